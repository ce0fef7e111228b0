"""The host that serves the assisted login for accounts that are a cookie (5.3)."""

from urllib.parse import urlsplit

from .credentials import origin_of
from .peers import host_of, is_loopback


def login_origin(configured: str | None, public_origin: str) -> str:
    """The origin that assisted logins are served at; empty where there are none.

    ``configured`` is what the operator set. It counts when it is an origin and
    nothing more, with another host name than the dashboard's. Without a public
    origin the dashboard has every name of this machine.
    """
    origin = origin_of(configured or "")
    if not configured or not origin:
        return ""
    parts = urlsplit(configured.strip())
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return ""
    host, own = _name(origin), _name(origin_of(public_origin))
    is_own = host == own if own else host == "localhost" or is_loopback(host)
    return "" if is_own else origin


def isolated_host(configured: str | None, public_origin: str) -> str:
    """The host name of ``login_origin``; empty where there is none."""
    return _name(login_origin(configured, public_origin))


def _name(origin: str) -> str:
    return host_of(origin.partition("://")[2])
