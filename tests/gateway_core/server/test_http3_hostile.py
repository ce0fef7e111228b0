"""HTTP/3 at the edge: clients that turn the protocol against the gateway."""

import asyncio
import logging
import socket
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import FrameType, encode_frame
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType
from aioquic.tls import Epoch
from certificates import Issued
from h2_apps import Held, Send, echo, say, settle, start, streams
from h2_peer import Place, place
from h3_peer import Peer3, configuration, peer3
from h3_wire import crypto_frame, packet, send, stop_sending, stream_frame

from gateway_core.server import Limits, flood
from gateway_core.server.flood import CREDIT, RESET_COST
from gateway_core.server.http3 import Http3
from gateway_core.server.multiplexed import LINE_WINDOW, STREAMS
from gateway_core.server.pseudo_heads import list_size

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


def kept(here: Place) -> int:
    """How many bytes a connection keeps that belong to no body."""
    (connection,) = connections(here)
    gapped = sum(len(each.receiver._buffer) for each in connection.quic._streams.values())
    return gapped + sum(len(each.buffer) for each in connection.http._stream.values())


async def test_what_comes_behind_gaps_counts_as_unread(issued: Issued) -> None:
    piece = bytes(1000)

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for number in range(0, 4 * STREAMS, 4):
            peer.quic._get_or_create_stream_for_send(number)
        try:
            for number in range(0, 4 * STREAMS, 4):
                send(peer, *[stream_frame(number, 1 + at * 1000, piece) for at in range(200)])
                await asyncio.wait_for(peer.ping(), 5)
        except ConnectionError:
            pass
        most = kept(here) if connections(here) else 0

    assert most <= LINE_WINDOW


async def test_a_gap_that_is_filled_later_holds_nothing_up(issued: Issued) -> None:
    size = 200_000
    body = encode_frame(FrameType.DATA, bytes(size))

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        numbers = [peer.request(method=b"POST", ends=False) for _ in range(12)]
        await peer.ping()
        for number in numbers:
            sender = peer.quic._streams[number].sender
            begin = sender._buffer_stop
            sender.write(body, end_stream=True)
            sender._pending.subtract(begin, begin + 1)
        peer.transmit()
        await settle(lambda: kept(here) > 5 * size)
        for number in numbers:
            sender = peer.quic._streams[number].sender
            sender._pending.add(begin, begin + 1)
        peer.transmit()
        heard = [await peer.answer(number) for number in numbers]

    assert [len(each.body) for each in heard] == [size] * 12


async def test_heads_that_are_under_way_count_as_unread(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for _ in range(STREAMS):
            number = peer.quic.get_next_available_stream_id()
            peer.quic.send_stream_data(number, b"\x01\x80\x01\x00\x00" + bytes(60_000))
        peer.transmit()
        await settle(lambda: kept(here) > LINE_WINDOW // 2)
        for _ in range(10):
            await peer.ping()
        most = kept(here)

    assert most <= LINE_WINDOW + 4 * list_size(Limits())


async def test_what_is_kept_of_a_body_goes_when_it_is_given_up(issued: Issued) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", ends=False)
        await settle(lambda: held.begun)
        send(peer, stream_frame(number, 100_000, b"a"))
        await settle(lambda: kept(here) > 90_000)
        peer.quic._streams[number].sender._reset_error_code = 0
        send(peer, b"\x04" + b"".join(map(encode_uint_var, (number, 0, 100_001))))
        await settle(lambda: not streams(here))
        most = kept(here)
        held.go.set()

    assert not most


@pytest.mark.parametrize("late", [True, False])
async def test_who_gives_up_a_request_before_its_head_is_not_served(
    issued: Issued, caplog: pytest.LogCaptureFixture, late: bool
) -> None:
    """``late`` is a request that began with another one behind it."""
    held = Held()
    held.go.set()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for number in (0, 4):
            peer.quic._get_or_create_stream_for_send(number)
        if late:
            send(peer, stream_frame(4, 0, b"\x21"))
        send(peer, stop_sending(0))
        send(peer, stream_frame(0, 0, head_of(peer), ends=True))
        await peer.until(lambda: peer.ended(0))
        (connection,) = connections(here)
        left = set(connection.http._stream)

    assert not held.begun
    assert 0 not in left
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


def head_of(peer: Peer3) -> bytes:
    """A request's head as it goes over the wire."""
    pseudo = [(b":method", b"GET"), (b":scheme", b"https"), (b":path", b"/")]
    _, block = peer.h3._encoder.encode(0, [*pseudo, (b":authority", b"127.0.0.1")])
    return encode_frame(FrameType.HEADERS, block)


async def test_an_answer_that_nobody_takes_holds_no_connection(issued: Issued) -> None:
    """All of it is with the system that sends it: no application waits for the client."""

    async def short(scope: Any, receive: Any, send: Send) -> None:
        await start(send)
        await say(send, bytes(100_000))

    serving = place(short, issued, http3=True)
    async with serving as here, peer3(here.port, issued, max_stream_data=1000) as peer:
        peer.quic._write_stream_limits = lambda **_: None  # type: ignore[method-assign,assignment]
        number = peer.request()
        await peer.until(lambda: peer.heard(number).body)
        await settle(lambda: not streams(here))
        here.pass_time(16)
        here.pass_time(40)
        patient = bool(connections(here))
        here.pass_time(46)
        left = connections(here)

    assert patient
    assert not left


async def test_a_client_that_errs_writes_no_log(
    issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        send(peer, b"\x1e")  # Only servers say that a handshake is done.
        await settle(lambda: not connections(here))

    assert not [each for each in caplog.records if each.levelno >= logging.INFO]


@pytest.mark.parametrize("kind", [FrameType.DATA, 0x21])
async def test_frames_that_bring_nothing_are_cut_off(issued: Issued, kind: int) -> None:
    held = Held()

    async with place(held, issued, http3=True) as here, peer3(here.port, issued) as peer:
        number = peer.request(method=b"POST", ends=False)
        peer.quic.send_stream_data(number, encode_frame(kind, b"") * (CREDIT + 50))
        peer.transmit()
        code = await peer.end()
        held.go.set()

    assert code == EXCESSIVE


async def test_control_frames_without_number_are_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        control = peer.h3._local_control_stream_id
        peer.quic.send_stream_data(control, encode_frame(0x21, b"") * (CREDIT + 50))
        peer.transmit()
        code = await peer.end()

    assert code == EXCESSIVE


async def test_streams_that_are_nothing_are_cut_off(issued: Issued) -> None:
    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        for _ in range(CREDIT // RESET_COST + 20):
            if peer.code is None:
                number = peer.quic.get_next_available_stream_id(is_unidirectional=True)
                peer.quic.send_stream_data(number, b"\x21", end_stream=True)
                with suppress(ConnectionError):
                    await peer.ping()
        code = await peer.end()

    assert code == EXCESSIVE


async def test_an_empty_frame_for_each_request_is_no_flood(
    issued: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flood, "EARNED", 0)

    async with place(echo, issued, http3=True) as here, peer3(here.port, issued) as peer:
        (connection,) = connections(here)
        connection._credit._left = 10.0
        for _ in range(30):
            number = peer.request(method=b"POST", body=b"a", ends=False)
            peer.body(number, b"", ends=True)
            heard = await peer.answer(number)

    assert heard.body == b"a"
