"""Which network addresses may be dialled. Pure: nothing is looked up here.

An IPv6 address may carry an IPv4 address that some gateway on the way unwraps,
so an address is allowed only when it and everything inside it is allowed.
"""

from collections.abc import Iterator
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Range = IPv4Network | IPv6Network


class AddressPolicy(Enum):
    """Who named a destination, and so how far it may reach."""

    OPERATOR = "operator"
    """Stored configuration: this machine and private networks too."""
    PUBLIC = "public"
    """A request or a provider's answer: public addresses and web ports only."""


PUBLIC_PORTS = frozenset({80, 443, 8080, 8443})

NEVER: tuple[Range, ...] = (
    # RFC 1122 section 3.2.1.3: "this host"; Linux connects 0.0.0.0 to loopback.
    IPv4Network("0.0.0.0/8"),
    IPv4Network("255.255.255.255/32"),
    # Metadata services of cloud machines outside the link-local range.
    IPv4Network("100.100.100.200/32"),
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.192/32"),
    IPv6Network("fd00:ec2::/32"),
    IPv6Network("fd20:ce::254/128"),
)

NOT_PUBLIC: tuple[Range, ...] = (
    # Shared address space of carriers: RFC 6598.
    IPv4Network("100.64.0.0/10"),
    # Protocol assignments: RFC 6890.
    IPv4Network("192.0.0.0/24"),
    # Benchmarks of devices: RFC 2544.
    IPv4Network("198.18.0.0/15"),
    # Reserved: RFC 1112 section 4.
    IPv4Network("240.0.0.0/4"),
    # Local translation to IPv4: RFC 8215.
    IPv6Network("64:ff9b:1::/48"),
    # Site-local, deprecated by RFC 3879.
    IPv6Network("fec0::/10"),
)

NAT64 = IPv6Network("64:ff9b::/96")
LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
COMPATIBLE = IPv6Network("::/96")
TRANSLATED = IPv6Network("::ffff:0:0:0/96")
"""The other mapped form, for translators without state: ``::ffff:0:127.0.0.1``."""


def read_address(text: str) -> Address:
    """An address as a resolver gives it, without its zone. Raises ValueError."""
    return ip_address(text.partition("%")[0])


def is_literal(host: str) -> bool:
    """Whether a parsed URL's host is an address rather than a name."""
    return ":" in host or host.replace(".", "").isdigit()


def allows(policy: AddressPolicy, address: Address) -> bool:
    """Whether this address, and every address it carries, may be dialled."""
    layers = tuple(unwrap(address))
    if any(is_never(layer) for layer in layers):
        return False
    if policy is AddressPolicy.OPERATOR:
        return True
    # A wrapped address is judged by what it carries.
    carried = layers[1:] or layers
    return not within(address, NOT_PUBLIC) and all(is_public(layer) for layer in carried)


def is_never(address: Address) -> bool:
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or within(address, NEVER)
    )


def is_public(address: Address) -> bool:
    return address.is_global and not within(address, NOT_PUBLIC)


def within(address: Address, ranges: tuple[Range, ...]) -> bool:
    return any(address in each for each in ranges)


def unwrap(address: Address) -> Iterator[Address]:
    """The address itself, then every IPv4 address it may carry."""
    yield address
    if isinstance(address, IPv6Address):
        yield from carried_by(address)


def carried_by(address: IPv6Address) -> Iterator[IPv4Address]:
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if address in NAT64 or address in TRANSLATED or (address in COMPATIBLE and int(address) > 1):
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    if address in LOCAL_NAT64:
        yield from embedded_addresses(address.packed)


def embedded_addresses(packed: bytes) -> Iterator[IPv4Address]:
    """Every IPv4 address that a translation prefix of 48, 56, 64 or 96 bits may have put here.

    Which prefix is in use cannot be told, and the wrong ones mostly read zeros:
    those are left out. Byte 8 is never part of the address.
    https://www.rfc-editor.org/rfc/rfc6052#section-2.2
    """
    spread = packed[:8] + packed[9:]
    for octets in (*(spread[start : start + 4] for start in (6, 7, 8)), packed[12:]):
        if octets[0]:
            yield IPv4Address(octets)
