"""Who is at the other end of a connection: this machine's own user, or anybody.

Local means proven local: the socket's peer is a loopback address, no proxy
stands between, the page that asks (if one does) is local too, and the name
the caller used for the gateway is one of this machine's. The last point stops
a web page from reaching a local gateway by DNS rebinding. A proxy may add no
header and write its own name for the gateway into ``host``, as nginx does
unless it is configured; then HTTP/1.0 and a public origin give it away.
"""

import ipaddress
import re
from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

PEER = "model_gateway.peer"
"""Key of the scope under which the application keeps who is at the other end."""
UNKNOWN = "invalid"
_FORWARDED = frozenset(
    {
        *("x-forwarded-for", "x-real-ip", "forwarded", "x-forwarded-host", "via"),
        *("x-forwarded-proto", "x-forwarded-port", "x-forwarded-server"),
        *("cf-connecting-ip", "true-client-ip", "x-client-ip"),
    }
)
"""What proxies add; not every one of them says whom it speaks for."""
_VIA = "x-gateway-via-proxy"
_STAMPS = frozenset({_VIA, "x-gateway-real-ip", "x-gateway-peer-token"})

_dressed = re.compile(r"\[([^]]*)\](?::[0-9]{1,5})?|([^:]*):[0-9]{1,5}").fullmatch
"""An address with brackets or a port."""


class Peer(Struct, frozen=True):
    """The other end of a connection, as the socket's owner knows it."""

    address: str
    """An IP address, or ``invalid`` for what cannot be read as one."""
    via_proxy: bool
    """True when a proxy stands between; such a caller is never local."""
    is_loopback: bool


def stamp(scope: MutableMapping[str, Any], headers: dict[str, str]) -> Peer:
    """Say who is at the other end and put it into the scope, where no client can write.

    Everything a client may have sent in the place of it is removed from
    ``headers`` and from the scope, whichever way it is spelled.
    """
    forwarded = headers.get("x-forwarded-for")
    # Programs speak HTTP/1.1; nginx spoke 1.0 to upstreams by default until version 1.29.7.
    via = not _FORWARDED.isdisjoint(headers) or scope.get("http_version") == "1.0"
    claimed = [n for n in headers if "gateway" in n and n.replace("_", "-") in _STAMPS]
    if claimed:
        via = via or any(name.replace("_", "-") == _VIA for name in claimed)
        for name in claimed:
            del headers[name]
        scope["headers"] = [
            pair
            for pair in scope["headers"]
            if pair[0].decode("latin-1").lower().replace("_", "-") not in _STAMPS
        ]
    client = scope.get("client")
    socket_peer = plain_address(client[0]) if client else UNKNOWN
    address = socket_peer
    if forwarded is not None and is_loopback(socket_peer):
        address = plain_address(forwarded.rpartition(",")[2])
    peer = Peer(address, via, not via and is_loopback(address))
    scope[PEER] = peer
    return peer


def is_local(peer: Peer, headers: Mapping[str, str], public_origin: str = "") -> bool:
    """Whether this caller is on this machine. ``headers`` have lower-case names.

    ``public_origin`` is the configured one. Where it is another than this machine's, a proxy
    stands in front, whose requests may look like those of a local program.
    """
    if not peer.is_loopback or (public_origin and not _is_local_url(public_origin)):
        return False
    page = headers.get("origin", headers.get("referer"))
    if page is not None and not _is_local_url(page):
        return False
    return _is_local_name(host_of(headers.get("host", "")))


@lru_cache(maxsize=4096)
def plain_address(text: str) -> str:
    """An address without brackets, port and IPv4 mapping; ``invalid`` for anything else."""
    text = text.strip().strip('"')
    dressed = _dressed(text)
    if dressed is not None:
        text = dressed[1] or dressed[2] or ""
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return UNKNOWN
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(parsed)


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


def _is_local_url(url: str) -> bool:
    return _is_local_name(host_of_url(url))


@lru_cache(maxsize=256)
def _is_local_name(host: str) -> bool:
    return host == "localhost" or is_loopback(host)


@lru_cache(maxsize=256)
def host_of(authority: str) -> str:
    """The name in a Host header, in lower case and without port and brackets."""
    return host_of_url(f"//{authority}")


@lru_cache(maxsize=256)
def host_of_url(url: str) -> str:
    """The name in a URL, in lower case; empty when it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
