"""Who is at the other end of a connection: this machine's own user, or anybody.

Local means proven local: the socket's peer is a loopback address, no proxy
stands between, the page that asks (if one does) is local too, and the name
the caller used for the gateway is one of this machine's. The last point stops
a web page from reaching a local gateway by DNS rebinding.
"""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

_FORWARDED = ("x-forwarded-for", "x-real-ip", "forwarded", "x-forwarded-host", "via")


def is_local(scope: Mapping[str, Any], headers: Mapping[str, str], public_origin: str = "") -> bool:
    """Whether this caller is on this machine. ``headers`` have lower-case names.

    ``public_origin`` is the configured one; its host name is trusted as a name
    of this machine.
    """
    client = scope.get("client")
    if not client or not is_loopback(client[0]):
        return False
    for name in _FORWARDED:
        if name in headers:
            return False
    origin = headers.get("origin")
    if origin is not None and not _is_local_name(_host_of_url(origin), ""):
        return False
    return _is_local_name(_host_of(headers.get("host", "")), _host_of_url(public_origin))


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


@lru_cache(maxsize=256)
def _is_local_name(host: str, public_host: str) -> bool:
    return host == "localhost" or is_loopback(host) or bool(public_host and host == public_host)


@lru_cache(maxsize=256)
def _host_of(authority: str) -> str:
    return _host_of_url(f"//{authority}")


@lru_cache(maxsize=256)
def _host_of_url(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
