"""WebSockets over HTTP/2: RFC 8441."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from certificates import Issued
from h2.events import DataReceived, StreamEnded, StreamReset
from h2.settings import SettingCodes
from h2_apps import settle, streams
from h2_peer import Peer, place
from ws_cases import CAP, ECHOED, KIB, REFUSED, echo, text
from ws_peer import BINARY, CLOSE, PING, PONG, TEXT, Frame, WsPeer, close_frame, code_of, frame

from gateway_core import ON_STOP

pytestmark = pytest.mark.anyio
PROTOCOL = (b":protocol", b"websocket")
VERSION = (b"sec-websocket-version", b"13")


class Tunnel:
    """The bytes of one stream."""

    def __init__(self, peer: Peer, number: int) -> None:
        self.peer, self.number = peer, number
        self.taken = 0

    @property
    def is_over(self) -> bool:
        return self.peer.ended(self.number) or self.peer.closed

    async def read(self, size: int) -> bytes:
        while True:
            there = self.peer.heard(self.number).body
            if len(there) > self.taken or self.is_over:
                piece = there[self.taken : self.taken + size]
                self.taken += len(piece)
                return piece
            await self.peer.hear()

    async def write(self, data: bytes) -> None:
        await self.peer.body(self.number, data)


async def connect(peer: Peer, *headers: tuple[bytes, bytes], path: bytes = b"/") -> int:
    """The number of a stream whose handshake was answered."""
    number = await peer.request(path, PROTOCOL, *headers, method=b"CONNECT", ends=False)
    while not peer.heard(number).status:
        await peer.hear()
    return number


@asynccontextmanager
async def socket(peer: Peer) -> AsyncIterator[WsPeer]:
    number = await connect(peer, VERSION)
    assert peer.heard(number).status == 200
    tunnel = Tunnel(peer, number)
    yield WsPeer(tunnel.read, tunnel.write)


async def test_a_server_says_that_it_takes_sockets(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        found = peer.h2.remote_settings[SettingCodes.ENABLE_CONNECT_PROTOCOL]

    assert found == 1


async def test_good_frames_are_understood(issued: Issued) -> None:
    async with place(echo, issued, message=CAP) as here, here.peer() as peer, socket(peer) as one:
        for frames, wanted in ECHOED.values():
            await one.send(*frames)
            assert [await one.frame() for _ in wanted] == wanted
        await one.send(close_frame())
        [last] = await one.rest()

    assert (last.opcode, code_of(last)) == (CLOSE, 1000)


@pytest.mark.parametrize(("sent", "code"), REFUSED.values(), ids=REFUSED.keys())
async def test_bad_frames_close_the_socket_and_not_the_connection(
    issued: Issued, sent: list[bytes], code: int
) -> None:
    async with place(echo, issued, message=CAP) as here, here.peer() as peer:
        async with socket(peer) as one:
            await one.send(*sent)
            closing = await one.closing()
        async with socket(peer) as other:
            await other.send(text(b"a"))
            answer = await other.frame()

    assert closing == code
    assert answer == Frame(TEXT, b"a")


async def test_a_handshake_is_accepted_as_the_standard_has_it(issued: Issued) -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await receive()
        await send({"type": "websocket.accept", "subprotocol": "b"})
        await receive()

    async with place(app, issued) as here, here.peer() as peer:
        offered = (b"sec-websocket-protocol", b"a, b")
        heard = peer.heard(await connect(peer, VERSION, offered, path=b"/a%20b?c=d"))

    assert heard.status == 200
    assert heard.headers[b"sec-websocket-protocol"] == b"b"
    assert not {b"connection", b"upgrade", b"sec-websocket-accept"} & heard.headers.keys()
    [scope] = scopes
    assert (scope["type"], scope["scheme"], scope["http_version"]) == ("websocket", "wss", "2")
    assert (scope["path"], scope["query_string"]) == ("/a b", b"c=d")
    assert scope["subprotocols"] == ["a", "b"]
    assert (b"host", b"127.0.0.1") in scope["headers"]


BAD: dict[str, tuple[list[tuple[bytes, bytes]], int]] = {
    "no version": ([PROTOCOL], 426),
    "another version": ([PROTOCOL, (b"sec-websocket-version", b"8")], 426),
    "another protocol": ([(b":protocol", b"connect-udp"), VERSION], 405),
    "a length": ([PROTOCOL, VERSION, (b"content-length", b"3")], 400),
}


@pytest.mark.parametrize(("headers", "status"), BAD.values(), ids=BAD.keys())
async def test_a_bad_handshake_is_refused(
    issued: Issued, headers: list[tuple[bytes, bytes]], status: int
) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await peer.request(b"/", *headers, method=b"CONNECT", ends=False)
        heard = await peer.answer(number)

    assert heard.status == status


async def test_a_handshake_that_is_not_accepted_is_answered(issued: Issued) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/shut":
            await send({"type": "websocket.close"})
            return
        kind, headers = "websocket.http.response", [(b"content-length", b"2")]
        await send({"type": f"{kind}.start", "status": 404, "headers": headers})
        await send({"type": f"{kind}.body", "body": b"no"})

    async with place(app, issued) as here, here.peer() as peer:
        heard = [await peer.answer(await connect(peer, VERSION, path=p)) for p in (b"/shut", b"/")]

    assert [(each.status, each.body) for each in heard] == [(403, b""), (404, b"no")]


async def test_a_client_that_resets_the_stream_or_ends_it_has_left(issued: Issued) -> None:
    codes: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        codes.append((await receive())["code"])

    async with place(app, issued) as here, here.peer() as peer:
        first, second = await connect(peer, VERSION), await connect(peer, VERSION)
        peer.h2.reset_stream(first)
        peer.h2.end_stream(second)
        await peer.flush()
        await settle(lambda: len(codes) == 2)
        await settle(lambda: not streams(here))
        await settle(lambda: not here.manager.tasks)

    assert codes == [1006, 1006]


async def test_an_application_that_does_not_receive_closes_the_clients_window(
    issued: Issued,
) -> None:
    go, taken = asyncio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        while (message := await receive())["type"] == "websocket.receive":
            taken.append(len(message["bytes"]))

    async with place(app, issued, message=64 * KIB) as here, here.peer() as peer:
        number = await connect(peer, VERSION)
        tunnel = Tunnel(peer, number)
        pieces = 40
        flooding = asyncio.create_task(tunnel.write(frame(BINARY, b"*" * 64 * KIB) * pieces))
        await settle(lambda: peer.h2.local_flow_control_window(number) == 0)
        go.set()
        await flooding
        await tunnel.write(close_frame())
        await WsPeer(tunnel.read, tunnel.write).rest()

    assert taken == [64 * KIB] * pieces


async def test_a_client_that_takes_nothing_loses_the_socket(issued: Issued) -> None:
    ended: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        for _ in range(100):
            await send({"type": "websocket.send", "bytes": b"*" * 64 * KIB})
        ended.append((await receive())["type"])

    async with place(app, issued) as here, here.peer() as peer:
        peer.takes = False
        number = await connect(peer, VERSION)
        while not any(isinstance(e, DataReceived) for e in peer.events):
            await peer.hear()
        await settle(lambda: streams(here)[-1]._stuck)
        here.pass_time(here.manager.limits.body_silence + 1)
        while not any(isinstance(e, StreamReset) for e in peer.events):
            await peer.hear()
        await settle(lambda: ended)

    assert ended == ["websocket.disconnect"]
    assert number == 1


async def test_an_idle_socket_stays_while_pings_are_answered(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer, socket(peer) as one:
        ping = here.manager.limits.ping
        for count in range(1, 6):
            here.pass_time(count * (ping + 1))
            assert await one.frame() == Frame(PING, b"")
            await one.send(frame(PONG), text(b"here"))
            assert await one.frame() == Frame(TEXT, b"here")


async def test_a_socket_whose_pings_are_not_answered_is_dropped(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer, socket(peer) as one:
        for count in range(1, 5):
            here.pass_time(count * (here.manager.limits.ping + 1))
        rest = await one.rest()
        await settle(lambda: not streams(here))

    assert rest in ([Frame(PING, b"")] * 3, [])


async def test_a_stop_closes_sockets_with_1001(issued: Issued) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/":
            await echo(scope, receive, send)
            return
        stop = asyncio.Event()
        scope[ON_STOP](stop.set)
        await receive()
        await send({"type": "websocket.accept"})
        await stop.wait()
        await send({"type": "websocket.send", "text": "the end"})
        await send({"type": "websocket.close", "code": 1001})

    async with place(app, issued) as here, here.peer() as peer:
        ends = []
        numbers = [await connect(peer, VERSION, path=path) for path in (b"/", b"/own")]
        here.stop()
        for number in numbers:
            tunnel = Tunnel(peer, number)
            one = WsPeer(tunnel.read, tunnel.write)
            frames = [await one.frame()]
            if frames[0] is not None and frames[0].opcode == TEXT:
                frames.append(await one.frame())
            await one.send(close_frame(1001))
            ends.append([each.payload[:7] for each in frames if each is not None])

    assert [each[-1][:2] for each in ends] == [(1001).to_bytes(2, "big")] * 2
    assert ends[1][0] == b"the end"


async def test_many_short_messages_are_no_abuse(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer, socket(peer) as one:
        for count in range(1500):
            await one.send(text(b"a"))
            assert await one.frame() == Frame(TEXT, b"a"), count


async def test_many_short_messages_at_once_are_no_abuse(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await connect(peer, VERSION)
        tunnel = Tunnel(peer, number)
        one = WsPeer(tunnel.read, tunnel.write)
        for _ in range(1500):
            peer.h2.send_data(number, text(b"a"))
        await peer.flush()
        for count in range(1500):
            assert await one.frame() == Frame(TEXT, b"a"), count


async def test_a_response_ends_with_its_stream(issued: Issued) -> None:
    async with place(echo, issued) as here, here.peer() as peer:
        number = await connect(peer, VERSION)
        tunnel = Tunnel(peer, number)
        await tunnel.write(close_frame())
        await WsPeer(tunnel.read, tunnel.write).rest()
        ends = [e for e in peer.events if isinstance(e, StreamEnded) and e.stream_id == number]
        await settle(lambda: not here.manager.tasks)

    assert len(ends) == 1
