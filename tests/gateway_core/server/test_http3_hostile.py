"""HTTP/3 at the edge: clients that turn the protocol against the gateway."""

import asyncio
import socket
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType
from aioquic.tls import Epoch
from certificates import Issued
from h2_apps import echo, settle
from h2_peer import Place, place
from h3_peer import Peer3, configuration, peer3
from h3_wire import crypto_frame, packet, send, stream_frame

from gateway_core.server.http3 import Http3

pytestmark = pytest.mark.anyio

EXCESSIVE = 0x107


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
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(place(echo, issued, http3=True))
        elsewhere = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        elsewhere.bind(("127.0.0.1", 0))
        peer = Spoofing(QuicConnection(configuration=configuration(issued)))
        peer.elsewhere = elsewhere
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: peer, local_addr=("127.0.0.1", 0)
        )
        stack.callback(transport.close)
        peer.connect(("127.0.0.1", here.port))
        await settle(lambda: peer.sent > 1)
        (spoofed,) = connections(here)
        await stack.enter_async_context(peer3(here.port, issued))  # Behind it.
        believed = spoofed.client
        paths = [path.addr for path in spoofed.quic._network_paths]
        own = transport.get_extra_info("sockname")

    assert believed is None
    assert paths == [own]


async def test_a_body_in_crumbs_is_cut_off(issued: Issued) -> None:
    """Each byte lacks the one before it, so that all of them are kept one by one."""
    crumbs = [stream_frame(0, 2 * at + 1, b"a") for at in range(1000)]

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        peer.quic._get_or_create_stream_for_send(0)
        send(peer, *crumbs)
        code = await peer.end()

    assert code == EXCESSIVE


async def test_a_first_message_in_crumbs_is_cut_off(issued: Issued) -> None:
    quic = QuicConnection(configuration=configuration(issued))

    async with place(echo, issued, http3=True) as here:
        quic.connect(("127.0.0.1", here.port), now=0.0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            for begin in range(0, 1000, 100):
                crumbs = [crypto_frame(2 * at + 1, b"a") for at in range(begin, begin + 100)]
                first = packet(quic, b"".join(crumbs), Epoch.INITIAL, QuicPacketType.INITIAL)
                own.sendto(first, ("127.0.0.1", here.port))
            async with peer3(here.port, issued):  # Behind it.
                left = len(connections(here))
            own.setblocking(False)
            told = own.recv(2000)

    assert left == 1
    assert told
