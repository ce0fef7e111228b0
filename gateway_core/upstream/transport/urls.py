"""One strict parser for the URLs the gateway sends to; what was parsed is what is sent."""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from msgspec import Struct

from .failures import MalformedUrl

LONGEST = 8 * 1024
PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}

# User info is refused (no ``@``): RFC 9110 section 4.2.4 warns that it disguises the host. So are
# backslashes, which parsers after the WHATWG's standard take for slashes.
SHAPE = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<authority>[^\x00-\x20\x7f/?#\\@]+)"
    r"(?P<target>(?:[/?][!-\"$-\[\]-~]*)?)"
    r"(?:#[!-\[\]-~]*)?",
    re.IGNORECASE,
)
AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?", re.I)
NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


class Url(Struct, frozen=True):
    """Where a request goes, in the pieces its parts need."""

    scheme: str
    host: str
    """A name in lower case or an address without brackets."""
    port: int
    origin: str
    """Scheme, host and port as one word; equal for equal origins."""
    authority: str
    """The ``host`` header."""
    target: str
    """Path and query as they stand in the request line."""
    line: str
    """The request line behind the method, and the ``host`` line."""


@lru_cache(maxsize=512)
def parse(text: str) -> Url:
    """Read an absolute http or https URL; a fragment is dropped. Raises MalformedUrl."""
    shape = SHAPE.fullmatch(text) if len(text) <= LONGEST else None
    if shape is None:
        raise MalformedUrl("it is not a plain http or https URL")
    scheme = shape["scheme"].lower()
    host, port = split(shape["authority"], PORTS[scheme])
    target = shape["target"] or "/"
    return build(scheme, host, port, target if target[0] == "/" else f"/{target}")


def build(scheme: str, host: str, port: int, target: str) -> Url:
    bracketed = bracket(host)
    # RFC 9110 section 4.2.3: the default port is left out in the normal form.
    authority = bracketed if port == PORTS[scheme] else f"{bracketed}:{port}"
    return Url(
        scheme=scheme,
        host=host,
        port=port,
        origin=f"{scheme}://{bracketed}:{port}",
        authority=authority,
        target=target,
        line=f"{target} HTTP/1.1\r\nhost: {authority}\r\n",
    )


def bracket(host: str) -> str:
    """The host as it stands before a port."""
    return f"[{host}]" if ":" in host else host


def split(authority: str, default_port: int) -> tuple[str, int]:
    """Host and port of an authority without user info. Raises MalformedUrl."""
    parts = AUTHORITY.fullmatch(authority)
    if parts is None:
        raise MalformedUrl("its host or port is malformed")
    port = int(parts["port"]) if parts["port"] else default_port
    if not 0 < port < 65536:
        raise MalformedUrl("its port is out of range")
    return read_host(parts["host"]), port


def read_host(text: str) -> str:
    """A host in the one spelling that is dialled, checked and sent."""
    try:
        if text.startswith("["):
            return IPv6Address(text[1:-1]).compressed
        name = (text if text.isascii() else to_ascii(text)).lower()
        if NUMERIC.fullmatch(name):
            # Short, octal and hexadecimal spellings of an address are refused: resolvers read
            # 0x7f.1 as 127.0.0.1.
            return str(IPv4Address(name))
    except (AddressValueError, UnicodeError) as error:
        raise MalformedUrl("its host is malformed") from error
    # RFC 1035 section 2.3.4: 255 octets on the wire are 253 characters.
    if len(name) > 253 or NAME.fullmatch(name) is None:
        raise MalformedUrl("its host is malformed")
    return name


def to_ascii(name: str) -> str:
    """An international host name in the form the network knows. Raises UnicodeError."""
    # Its tables are large and hardly any provider needs them.
    import idna

    return idna.encode(name, uts46=True).decode("ascii")
