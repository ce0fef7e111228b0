"""Which addresses each policy lets through."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.upstream.transport.addresses import (
    AddressPolicy,
    allows,
    is_literal,
    read_address,
)


def wrapped(text):
    """Every IPv6 address that carries this IPv4 address."""
    number = int(IPv4Address(text))
    high, low = number >> 16, number & 0xFFFF
    return {
        "mapped": IPv6Address(0xFFFF << 32 | number),
        "compatible": IPv6Address(number),
        "6to4": IPv6Address(0x2002 << 112 | number << 80 | 1),
        "teredo client": IPv6Address(
            0x20010000 << 96 | int(IPv4Address("8.8.8.8")) << 64 | number ^ 0xFFFFFFFF
        ),
        "nat64": IPv6Address((0x64FF9B << 96) | number),
        "local nat64": IPv6Address((0x64FF9B0001 << 80) | number),
        "local nat64, 48 bits": IPv6Address((0x64FF9B0001 << 80) | high << 64 | low << 40),
    }


NEVER = [
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "224.0.0.1",
    "239.255.255.255",
    "ff02::1",
    "255.255.255.255",
    "0.0.0.0",
    "0.1.2.3",
    "::",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd20:ce::254",
    "::ffff:0:a9fe:a9fe",
]

PRIVATE = [
    "127.0.0.1",
    "127.255.0.1",
    "::1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "192.0.0.8",
    "240.0.0.1",
    "192.0.2.1",
    "fc00::1",
    "fd12::1",
    "fec0::1",
    "2001:db8::1",
    "64:ff9b:1::808:808",
    "::ffff:0:7f00:1",
    "::ffff:0:a00:1",
]

PUBLIC = [
    *("8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"),
    "::ffff:0:808:808",
]


@pytest.mark.parametrize("policy", AddressPolicy)
@pytest.mark.parametrize("text", NEVER)
def test_nobody_reaches_these(policy, text):
    assert not allows(policy, read_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_only_the_operator_reaches_these(text):
    assert allows(AddressPolicy.OPERATOR, read_address(text))
    assert not allows(AddressPolicy.PUBLIC, read_address(text))


@pytest.mark.parametrize("policy", AddressPolicy)
@pytest.mark.parametrize("text", PUBLIC)
def test_everybody_reaches_these(policy, text):
    assert allows(policy, read_address(text))


@pytest.mark.parametrize("kind", wrapped("0.0.0.0"))
def test_what_an_address_carries_is_judged_too(kind):
    assert not allows(AddressPolicy.OPERATOR, wrapped("169.254.169.254")[kind])
    assert not allows(AddressPolicy.PUBLIC, wrapped("127.0.0.1")[kind])
    assert not allows(AddressPolicy.PUBLIC, wrapped("10.1.2.3")[kind])
    assert allows(AddressPolicy.OPERATOR, wrapped("10.1.2.3")[kind])


def test_the_server_of_a_tunnel_is_judged_like_its_client():
    tunnel = IPv6Address(
        0x20010000 << 96 | int(IPv4Address("169.254.169.254")) << 64 | 0x08080808 ^ 0xFFFFFFFF
    )

    assert not allows(AddressPolicy.OPERATOR, tunnel)


@given(st.integers(0, 2**32 - 1))
def test_public_addresses_are_global_and_never_more_than_the_operators(number):
    address = IPv4Address(number)

    if allows(AddressPolicy.PUBLIC, address):
        assert address.is_global
        assert not address.is_multicast
        assert allows(AddressPolicy.OPERATOR, address)


# Below that the reading of a local translation prefix is in doubt, and leads nowhere.
@given(st.integers(2**24, 2**32 - 1), st.sampled_from(sorted(wrapped("0.0.0.0"))))
def test_wrapping_never_opens_a_door(number, kind):
    inner = IPv4Address(number)
    outer = wrapped(str(inner))[kind]

    for policy in AddressPolicy:
        assert allows(policy, inner) or not allows(policy, outer)


def test_literals_are_told_from_names():
    assert is_literal("127.0.0.1")
    assert is_literal("::1")
    assert not is_literal("a.test")
    assert not is_literal("localhost")
    assert read_address("fe80::1%eth0") == ip_address("fe80::1")
