"""Which answers pages of other origins may read: the headers of CORS (WHATWG Fetch, section 3.3).

An answer to a request that shows a key is for whoever holds the key, wherever their page comes
from. Without a key a caller is let in because of this machine, so no other origin's page may read
the answer. Management is for the dashboard's own origin, and carries none of these headers.
"""

from collections.abc import Mapping

from ..contracts.asgi import Header

SHARED: Mapping[str, str] = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "*",
}
"""For an answer that pages of every origin may read, its headers included."""
SHARED_FIELDS: tuple[Header, ...] = tuple((n.encode(), v.encode()) for n, v in SHARED.items())
DAY = 24 * 3600


def preflight_headers(methods: str) -> dict[str, str]:
    """For the answer to the question that a browser asks beforehand, which never shows a key."""
    return {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": methods,
        # The wildcard covers every name but this one: WHATWG Fetch, section 3.3.3.
        "access-control-allow-headers": "authorization, *",
        "access-control-max-age": str(DAY),
    }
