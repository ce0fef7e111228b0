"""Local means proven local."""

import pytest

from gateway_core.identity.peers import is_local, is_loopback

HOST = {"host": "127.0.0.1:20128"}


def peer(address: str = "127.0.0.1", **headers: str) -> tuple[dict[str, object], dict[str, str]]:
    """A scope and its headers; ``_`` in a header's name stands for ``-``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"client": (address, 50_000)}, {**HOST, **named}


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
    assert not is_local({"client": client}, HOST)
    assert not is_local({}, HOST)


@pytest.mark.parametrize(
    "name", ["x_forwarded_for", "x_real_ip", "forwarded", "x_forwarded_host", "via"]
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
    assert not is_local({"client": ("127.0.0.1", 1)}, {})


def test_the_public_origins_name_is_a_name_of_this_machine() -> None:
    caller = peer(host="gateway.example")

    assert is_local(*caller, "https://gateway.example")
    assert is_local(*caller, "https://gateway.example:8443/path")
    assert not is_local(*caller, "https://other.example")
    assert not is_local(*caller, "gateway.example")
    assert not is_local(*caller, "")


def test_the_public_origin_lets_no_page_and_no_proxy_in() -> None:
    public = "https://gateway.example"

    assert not is_local(*peer(host="gateway.example", origin=public), public)
    assert not is_local(*peer(host="gateway.example", via="1.1 proxy"), public)
    assert not is_local(*peer("10.0.0.1", host="gateway.example"), public)
