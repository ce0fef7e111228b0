"""HTTP/3 at the edge: clients that turn the protocol against the gateway."""

import asyncio
import socket
from typing import Any

import pytest
from aioquic.quic.connection import QuicConnection
from certificates import Issued
from h2_apps import echo, settle
from h2_peer import Place, place
from h3_peer import Peer3, configuration

from gateway_core.server.http3 import Http3

pytestmark = pytest.mark.anyio


def connections(here: Place) -> list[Any]:
    return [each for each in here.door.visitors if isinstance(each, Http3)]


class Spoofing(Peer3):
    """What ends its handshake seems to come from elsewhere."""

    elsewhere: socket.socket
    sent = 0

    def transmit(self) -> None:
        for data, addr in self.quic.datagrams_to_send(now=asyncio.get_running_loop().time()):
            (self.elsewhere if self.sent else self._transport).sendto(data, addr)  # type: ignore[union-attr]
            self.sent += 1


async def test_who_changes_its_address_in_a_handshake_is_not_believed(issued: Issued) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        async with place(echo, issued, http3=True) as here:
            peer = Spoofing(QuicConnection(configuration=configuration(issued)))
            peer.elsewhere = elsewhere
            transport, _ = await loop.create_datagram_endpoint(
                lambda: peer, local_addr=("127.0.0.1", 0)
            )
            peer.connect(("127.0.0.1", here.port))
            await settle(lambda: peer.sent > 5)
            (connection,) = connections(here)
            believed = connection.client
            paths = [path.addr for path in connection.quic._network_paths]
            own = transport.get_extra_info("sockname")
            peer._timer.cancel()  # type: ignore[union-attr]
            transport.close()

    assert believed is None
    assert paths == [own]
