"""The URL of a PostgreSQL database: from its parts, and what may be shown of it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

DEFAULT_PORT = 5432


def make_url(host: str, port: int, database: str, user: str, password: str, sslmode: str) -> str:
    """A URL from its parts."""
    place = f"[{host}]" if ":" in host else host
    who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    return f"postgresql://{who}@{place}:{port}/{quote(database, safe='')}?sslmode={sslmode}"


def describe_url(url: str) -> Mapping[str, Any]:
    """What may be shown of a URL that is complete: never its password."""
    parts = urlsplit(url)
    return {
        "host": parts.hostname,
        "port": parts.port or DEFAULT_PORT,
        "database": unquote(parts.path.removeprefix("/")) or unquote(parts.username or ""),
        "user": unquote(parts.username or ""),
        "sslmode": parse_qs(parts.query)["sslmode"][-1],
    }
