"""Which of a vendor's headers go on to the client: rate limits, and the request's id there."""

from collections.abc import Iterable
from functools import lru_cache

from ..contracts.asgi import Header
from ..contracts.exchange import UpstreamResponse
from .transport import Fields

PASSED_ON = ("request-id", "retry-after")
PASSED_ON_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "ratelimit-")


def passed_on(response: UpstreamResponse) -> list[Header]:
    """Names in lower case; values of a repeated name are joined by a comma."""
    headers = response.headers
    raw: Iterable[Header]
    if type(headers) is Fields:
        raw = headers.raw
    else:
        raw = ((n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items())
    kept: dict[bytes, bytes] = {}
    for name, value in raw:
        label = _label(name)
        if label:
            # RFC 9110 section 5.3: lines of one name may be combined with a comma.
            kept[label] = kept[label] + b", " + value if label in kept else value
    return list(kept.items())


@lru_cache(maxsize=1024)
def _label(name: bytes) -> bytes:
    """The name in lower case; empty for one that is not passed on."""
    text = name.decode("latin-1").lower()
    return (
        text.encode("latin-1") if text in PASSED_ON or text.startswith(PASSED_ON_PREFIXES) else b""
    )
