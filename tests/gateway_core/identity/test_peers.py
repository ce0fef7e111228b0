"""Local means proven local."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.identity.peers import (
    PEER,
    Peer,
    host_of,
    is_local,
    is_loopback,
    plain_address,
    stamp,
)

HOST = {"host": "127.0.0.1:20128"}
PEER_HEADERS = ("x-gateway-real-ip", "x-gateway-peer-token", "x-gateway-via-proxy")


def scope_of(client: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """A request as a server hands it over."""
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"client": client, "headers": pairs}


def peer(address: str = "127.0.0.1", **headers: str) -> tuple[Peer, dict[str, str]]:
    """A stamped caller and its headers; ``_`` in a header's name stands for ``-``."""
    named = {**HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return stamp(scope_of((address, 50_000), named), named), named


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_a_loopback_peer_is_local(address: str) -> None:
    assert is_loopback(address)
    assert is_local(*peer(address))


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "192.168.1.9",
        "::ffff:10.0.0.1",
        "fe80::1",
        "2001:db8::1",
        "0.0.0.0",
        "::",
        "",
        "localhost",
        "unix",
        "127.1",
        "127.0.0.1.evil.example",
        "2130706433",
    ],
)
def test_any_other_peer_is_not(address: str) -> None:
    assert not is_local(*peer(address))


@pytest.mark.parametrize("client", [None, ()], ids=["none", "empty"])
def test_an_unknown_peer_is_not_local(client: object) -> None:
    assert not is_local(stamp(scope_of(client, HOST), dict(HOST)), HOST)
    assert not is_local(stamp({"headers": []}, dict(HOST)), HOST)


@pytest.mark.parametrize(
    "name",
    [
        *("x_forwarded_for", "x_real_ip", "forwarded", "x_forwarded_host", "via"),
        *("x_forwarded_proto", "x_forwarded_port", "x_forwarded_server"),
        *("cf_connecting_ip", "true_client_ip", "x_client_ip"),
    ],
)
@pytest.mark.parametrize("value", ["127.0.0.1", ""], ids=["loopback", "empty"])
def test_whoever_comes_through_a_proxy_is_not_local(name: str, value: str) -> None:
    assert not is_local(*peer(**{name: value}))


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080", "http://LOCALHOST"],
)
def test_a_local_page_may_ask(origin: str) -> None:
    assert is_local(*peer(origin=origin))


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1.evil.example",
        "file://",
        "http://[::1",
        "http://localhost@evil.example",
        "http://localhost.evil.example",
        "localhost",
    ],
)
def test_any_other_page_may_not(origin: str) -> None:
    assert not is_local(*peer(origin=origin))


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:1",
        "LocalHost",
        "localhost.",
        "127.0.0.1",
        "127.0.0.2:80",
        "[::1]",
        "[::1]:20128",
        "[::ffff:127.0.0.1]:1",
    ],
)
def test_the_gateway_may_be_called_by_a_name_of_this_machine(host: str) -> None:
    assert is_local(*peer(host=host))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:20128",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "192.168.1.9",
        "[fe80::1]",
        "[::1",
        "localhost:1@evil.example",
        "0.0.0.0",
    ],
)
def test_a_rebound_name_is_not_local(host: str) -> None:
    assert not is_local(*peer(host=host))


def test_a_request_without_a_host_is_not_local() -> None:
    assert not is_local(stamp(scope_of(("127.0.0.1", 1), {}), {}), {})


@pytest.mark.parametrize("host", ["127.0.0.1:20128", "localhost", "gateway.example"])
def test_behind_the_proxy_of_a_public_origin_nobody_is_local(host: str) -> None:
    caller = peer(host=host)

    assert not is_local(*caller, "https://gateway.example")
    assert not is_local(*caller, "gateway.example")


@pytest.mark.parametrize(
    "origin", ["", "http://localhost:20128", "http://127.0.0.1", "http://[::1]"]
)
def test_a_public_origin_of_this_machine_changes_nothing(origin: str) -> None:
    assert is_local(*peer(), origin)
    assert not is_local(*peer(host="gateway.example"), origin)


@pytest.mark.parametrize(("version", "expected"), [("1.0", False), ("1.1", True), ("2", True)])
def test_a_request_of_http_1_0_may_be_a_proxys(version: str, expected: bool) -> None:
    scope = {**scope_of(("127.0.0.1", 1), HOST), "http_version": version}

    found = stamp(scope, dict(HOST))

    assert (found.via_proxy, is_local(found, HOST)) == (not expected, expected)


@pytest.mark.parametrize(
    ("referer", "expected"),
    [("http://localhost:20128/x", True), ("https://gateway.example/x", False), ("", False)],
)
def test_a_page_of_another_site_is_not_local_whatever_the_host_says(
    referer: str, expected: bool
) -> None:
    assert is_local(*peer(referer=referer)) is expected


def test_the_other_end_is_kept_where_no_client_can_write() -> None:
    scope = scope_of(("127.0.0.1", 1), HOST)

    found = stamp(scope, dict(HOST))

    assert scope[PEER] is found
    assert found == Peer(address="127.0.0.1", via_proxy=False, is_loopback=True)


@pytest.mark.parametrize("name", ["x-gateway-real-ip", "x-gateway-peer-token"])
@pytest.mark.parametrize("spelt", ["plain", "underscores"])
@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7"])
def test_what_a_client_claims_of_itself_is_removed_and_changes_nothing(
    name: str, spelt: str, address: str
) -> None:
    sent = name.replace("-", "_") if spelt == "underscores" else name
    headers = {**HOST, "x-kept": "1", sent: "127.0.0.1"}
    scope = scope_of((address, 1), headers)

    found = stamp(scope, headers)

    assert headers == {**HOST, "x-kept": "1"}
    assert [pair[0] for pair in scope["headers"]] == [b"host", b"x-kept"]
    assert found == peer(address)[0]


@pytest.mark.parametrize("sent", ["X_Gateway_Real_IP", "X-GATEWAY-PEER-TOKEN", "x-Gateway_real-ip"])
def test_a_claim_is_removed_from_the_scope_in_any_case(sent: str) -> None:
    pairs = [(b"host", b"127.0.0.1"), (sent.encode(), b"127.0.0.1")]
    scope: dict[str, Any] = {"client": ("192.0.2.7", 1), "headers": pairs}
    headers = {name.decode().lower(): value.decode() for name, value in pairs}

    found = stamp(scope, headers)

    assert scope["headers"] == pairs[:1]
    assert list(headers) == ["host"]
    assert (found.address, found.is_loopback) == ("192.0.2.7", False)


@pytest.mark.parametrize("sent", ["x-gateway-via-proxy", "x_gateway_via_proxy"])
@pytest.mark.parametrize("value", ["1", "0", ""])
def test_whoever_says_it_comes_through_a_proxy_is_remote(sent: str, value: str) -> None:
    headers = {**HOST, sent: value}

    found = stamp(scope_of(("127.0.0.1", 1), headers), headers)

    assert found == Peer(address="127.0.0.1", via_proxy=True, is_loopback=False)
    assert headers == HOST


@pytest.mark.parametrize(
    ("socket", "forwarded", "address"),
    [
        ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "127.0.0.1, 203.0.113.9", "203.0.113.9"),
        ("::1", "203.0.113.9, 127.0.0.1", "127.0.0.1"),
        ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "", "invalid"),
        ("127.0.0.1", "203.0.113.9,", "invalid"),
        ("127.0.0.1", "unknown", "invalid"),
        ("127.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
        ("198.51.100.1", "127.0.0.1", "198.51.100.1"),
        ("198.51.100.1", "203.0.113.9", "198.51.100.1"),
    ],
)
def test_only_a_proxy_on_this_machine_is_believed_and_only_its_last_word(
    socket: str, forwarded: str, address: str
) -> None:
    found, headers = peer(socket, x_forwarded_for=forwarded)

    assert (found.address, found.via_proxy, found.is_loopback) == (address, True, False)
    assert not is_local(found, headers)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" 192.0.2.7 ", "192.0.2.7"),
        ("192.0.2.7:8080", "192.0.2.7"),
        ('"192.0.2.7:8080"', "192.0.2.7"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:8080", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("[::ffff:127.0.0.1]:1", "127.0.0.1"),
        ("::1", "::1"),
    ],
)
def test_an_address_has_one_spelling(text: str, address: str) -> None:
    assert plain_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.01", "127.0.0.1.evil"),
        *("[::1", "[]", "::1]", "[127.0.0.1", "unix:", "_hidden", "127.0.0.1;", "127.0.0.1 x"),
        *("[::1]x", "[::1]:", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:1:1", "[::1]:123456"),
    ],
)
def test_what_cannot_be_read_is_remote(text: str) -> None:
    found = stamp(scope_of((text, 1), HOST), dict(HOST))

    assert found == Peer(address="invalid", via_proxy=False, is_loopback=False)


@given(st.text(max_size=60))
def test_any_text_is_an_address_of_one_spelling_or_invalid(text: str) -> None:
    found = plain_address(text)

    assert found == "invalid" or plain_address(found) == found


@pytest.mark.parametrize(
    ("authority", "name"),
    [
        ("Login.Example:8443", "login.example"),
        ("login.example.", "login.example"),
        ("[::1]:80", "::1"),
        ("", ""),
        ("[::1", ""),
    ],
)
def test_the_name_in_a_host_header(authority: str, name: str) -> None:
    assert host_of(authority) == name
