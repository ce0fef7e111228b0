"""Where a gateway listens, and what it says when it cannot."""

import socket

import pytest

from gateway_cli.listening import ServerError, listen


def test_a_port_that_is_taken_is_told() -> None:
    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]

    with taken, pytest.raises(ServerError, match="another one with --port") as reported:
        listen("127.0.0.1", port)

    assert str(reported.value).startswith(
        f"Cannot listen on 127.0.0.1:{port} (Address already in use)"
    )


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "2001:db8::1"])
def test_an_address_that_is_not_here_is_told(host: str) -> None:
    with pytest.raises(ServerError, match=r"Choose an address of this machine with --host\.$"):
        listen(host, 0)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
def test_every_address_means_those_of_ipv4_too() -> None:
    with listen("::", 0) as listener:
        port = listener.getsockname()[1]
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, port), timeout=5).close()
