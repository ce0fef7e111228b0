"""HTTP/3 at every address of the machine: an answer comes from the address that was asked."""

import asyncio
import socket
import sys
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from certificates import Issued
from h2_apps import MIB, echo
from h2_peer import place
from h3_peer import peer3

from gateway_core.server import listen
from gateway_core.server.udp import arrived, close_posts, open_posts
from gateway_core.server.wide import Address, Wide, give

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what was asked"),
]
HOSTS = [("0.0.0.0", "127.0.0.1"), ("0.0.0.0", "127.0.0.2"), ("::", "::1")]


def has(host: str) -> bool:
    try:
        listen(host, 0).close()
    except Exception:
        return False
    return True


@pytest.mark.parametrize("server", ["uvloop", "asyncio"])
@pytest.mark.parametrize(("host", "asked"), HOSTS, ids=lambda name: name)
async def test_the_address_that_was_asked_answers(
    issued: Issued, host: str, asked: str, server: str
) -> None:
    if not has(asked):
        pytest.skip("there is no such address here")
    body = b"x" * (2 * MIB)
    serving = place(echo, issued, http3=True, host=host, server=server)
    async with serving as here, peer3(here.port, issued, only=asked) as peer:
        heard = await peer.answer(peer.request(method=b"POST", body=body))

    assert heard.status == 200
    assert heard.body == body


def test_a_worker_answers_for_another_from_the_address_that_was_asked() -> None:
    listener = listen("0.0.0.0", 0)
    one, other = posts = open_posts(listener, 2)
    port = listener.getsockname()[1]
    clients = []
    for number in range(20):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.connect(("127.0.0.2", port))
        client.settimeout(5)
        client.send(b"%d" % number)
        clients.append(client)

    for data, address in arrived(one.incoming) + arrived(other.incoming):
        passed = msgspec.msgpack.decode(
            msgspec.msgpack.encode((data, address)), type=tuple[bytes, Address]
        )
        assert passed == (data, address)
        give(one.incoming, *passed)
    heard = [client.recv(100) for client in clients]

    for client in clients:
        client.close()
    close_posts(posts)
    listener.close()
    assert heard == [b"%d" % number for number in range(20)]


class Reluctant(socket.socket):
    """Takes every third datagram at once, and others when it is asked again."""

    asked = 0

    def sendmsg(self, *args: Any) -> int:
        self.asked += 1
        if self.asked % 3:
            raise BlockingIOError
        return super().sendmsg(*args)


async def test_what_the_system_does_not_take_yet_is_sent_in_order_before_it_closes() -> None:
    near = Reluctant(socket.AF_INET, socket.SOCK_DGRAM)
    near.setblocking(False)
    near.bind(("127.0.0.1", 0))
    far = socket.socket(type=socket.SOCK_DGRAM)
    far.bind(("127.0.0.1", 0))
    far.setblocking(False)
    sent = [b"%d" % number for number in range(100)]

    carrying = Wide(near, lambda data, address: None)
    for data in sent:
        carrying.sendto(data, (*far.getsockname(), b""))
    carrying.close()
    heard = []
    async with asyncio.timeout(5):
        while len(heard) < len(sent):
            await asyncio.sleep(0)
            with suppress(BlockingIOError):
                heard.append(far.recv(100))

    far.close()
    assert heard == sent
    assert near.fileno() == -1
