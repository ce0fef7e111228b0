"""The image's health check: does the gateway of this container answer?

Only the standard library is used, so that it costs little each time. The
certificate is not looked at: it need not be for this machine's own address,
and nothing is told that anybody may not know.
"""

import os
import sys
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

SECONDS = 3.0
"""How long an answer may take."""


def address() -> str:
    """Where the gateway has written down that it listens, and else where it does by default."""
    try:
        written = Path(os.environ["DATA_DIR"], "gateway.address").read_text("utf-8").strip()
    except (OSError, KeyError):
        written = ""
    return written or f"http://127.0.0.1:{os.environ.get('PORT') or 20128}"


def connection(url: str) -> HTTPConnection:
    """Not connected yet."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return HTTPConnection(host, parts.port, timeout=SECONDS)
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return HTTPSConnection(host, parts.port, timeout=SECONDS, context=context)


def main() -> int:
    """The exit code: 0 for a gateway that answers, 1 for any other."""
    url = address()
    client = connection(url)
    try:
        client.request("GET", "/api/health")
        status = client.getresponse().status
    except (OSError, HTTPException) as error:
        print(f"{url} does not answer: {error}")
        return 1
    finally:
        client.close()
    print(f"{url} answers {status}")
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
