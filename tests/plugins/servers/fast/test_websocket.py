"""WebSockets over HTTP/1.1: RFC 6455, by the cases of Autobahn's test suite and a few more."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from certificates import Issued
from gateway_server_fast.server import FastServer
from h2_peer import place
from http1_house import House
from ws_cases import CAP, CLOSED, ECHOED, KIB, REFUSED, echo, text
from ws_peer import (
    ACCEPT,
    BINARY,
    CLOSE,
    KEY,
    PING,
    PONG,
    TEXT,
    UPGRADE,
    Frame,
    close_frame,
    code_of,
    connected,
    frame,
    handshake,
    socket_to,
)

from gateway_cli.event_loop import LOOPS, loop_factory
from gateway_cli.listening import listen
from gateway_core import ON_STOP, ServerLimits, ServerOptions

LIMITS = ServerLimits(drain=5.0, short_drain=0.2, message=CAP, linger=0.3, body_silence=5.0)


@asynccontextmanager
async def opened(app: Any = echo, **changes: Any) -> AsyncIterator[House]:
    listener, stop = listen("127.0.0.1", 0), asyncio.Event()
    names = {name: getattr(LIMITS, name) for name in LIMITS.__struct_fields__}
    server = FastServer(ServerOptions(limits=ServerLimits(**{**names, **changes})))
    serving = asyncio.create_task(server.serve(app, listener, stop.wait))
    await asyncio.sleep(0)
    try:
        yield House(listener.getsockname()[1], server.manager, stop)
    finally:
        stop.set()
        server.shorten_drain()
        await serving


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Runs a coroutine on an event loop."""

    def run(work: Any) -> Any:
        with asyncio.Runner(loop_factory=loop_factory(request.param)) as runner:
            return runner.run(asyncio.wait_for(work, 30))

    return run


@pytest.mark.parametrize(("sent", "wanted"), ECHOED.values(), ids=ECHOED.keys())
def test_good_frames_are_understood(
    run: Callable[[Any], Any], sent: list[bytes], wanted: list[Frame]
) -> None:
    async def main() -> list[Frame | None]:
        async with opened() as house, socket_to(house.port) as peer:
            await peer.send(*sent)
            heard = [await peer.frame() for _ in wanted]
            await peer.send(close_frame())
            return [*heard, *await peer.rest()]

    *heard, last = run(main())

    assert heard == wanted
    assert (last.opcode, code_of(last)) == (CLOSE, 1000)


def test_frames_are_understood_however_they_are_cut(run: Callable[[Any], Any]) -> None:
    async def main() -> list[list[Frame | None]]:
        async with opened() as house, socket_to(house.port) as peer:
            heard = []
            for frames, wanted in ECHOED.values():
                data = b"".join(frames)
                for at in range(0, len(data), 7):
                    await peer.send(data[at : at + 7])
                heard.append([await peer.frame() for _ in wanted])
            return heard

    assert run(main()) == [wanted for _, wanted in ECHOED.values()]


@pytest.mark.parametrize(("sent", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_frames_close_the_socket(
    run: Callable[[Any], Any], sent: list[bytes], code: int
) -> None:
    async def main() -> int | None:
        async with opened() as house, socket_to(house.port) as peer:
            await peer.send(*sent)
            return await peer.closing()

    assert run(main()) == code


@pytest.mark.parametrize(("sent", "code"), CLOSED.values(), ids=CLOSED.keys())
def test_a_close_is_answered_with_its_code(
    run: Callable[[Any], Any], sent: bytes, code: int
) -> None:
    codes: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        codes.append((await receive())["code"])

    async def main() -> list[Frame]:
        async with opened(app) as house, socket_to(house.port) as peer:
            await peer.send(sent, text(b"behind"))
            return await peer.rest()

    [answer] = run(main())

    assert (answer.opcode, code_of(answer)) == (CLOSE, code)
    assert codes == [code]


HANDSHAKES: dict[str, tuple[bytes, int]] = {
    "without a key": (handshake(b"/", own=UPGRADE[:3]), 400),
    "with a short key": (handshake(b"/", b"sec-websocket-key: YQ==", own=UPGRADE[:3]), 400),
    "with a key that is no base64": (
        handshake(b"/", b"sec-websocket-key: " + b"!" * 24, own=UPGRADE[:3]),
        400,
    ),
    "with two keys": (handshake(b"/", b"sec-websocket-key: " + KEY), 400),
    "without a version": (handshake(b"/", own=(*UPGRADE[:2], UPGRADE[3])), 426),
    "with another version": (
        handshake(b"/", b"sec-websocket-version: 8", own=(*UPGRADE[:2], UPGRADE[3])),
        426,
    ),
    "without connection": (handshake(b"/", own=(UPGRADE[0], *UPGRADE[2:])), 400),
    "as a POST": (handshake(b"/").replace(b"GET", b"POST", 1), 400),
    "over HTTP/1.0": (handshake(b"/").replace(b"HTTP/1.1", b"HTTP/1.0", 1), 400),
    "with a body": (handshake(b"/", b"content-length: 3") + b"abc", 400),
    "with a chunked body": (handshake(b"/", b"transfer-encoding: chunked") + b"0\r\n\r\n", 400),
    "without a host": (handshake(b"/").replace(b"host: 127.0.0.1\r\n", b""), 400),
    "with a path that is none": (handshake(b"//x"), 400),
    "with many subprotocols": (
        handshake(b"/", b"sec-websocket-protocol: " + b",".join([b"a"] * 33)),
        400,
    ),
    "with too many headers": (handshake(b"/", *[b"a: b"] * 120), 431),
    "with a long header": (handshake(b"/", b"a: " + b"b" * 9 * KIB), 431),
    "with a long target": (handshake(b"/" + b"a" * 9 * KIB), 414),
}


@pytest.mark.parametrize(("sent", "status"), HANDSHAKES.values(), ids=HANDSHAKES.keys())
def test_a_bad_handshake_is_refused(run: Callable[[Any], Any], sent: bytes, status: int) -> None:
    async def main() -> tuple[int, bytes]:
        async with opened() as house, connected(house.port) as peer:
            await peer.send(sent)
            return await peer.read_head(), peer.head

    found, head = run(main())

    assert found == status
    assert (b"sec-websocket-version: 13" in head) == (status == 426)


def test_a_handshake_is_accepted_as_the_standard_has_it(run: Callable[[Any], Any]) -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await receive()
        headers = [(b"x-own", b"1")]
        await send({"type": "websocket.accept", "subprotocol": "b", "headers": headers})
        await receive()

    async def main() -> bytes:
        async with opened(app) as house, connected(house.port) as peer:
            more = (
                b"sec-websocket-protocol: a, b",
                b"sec-websocket-extensions: permessage-deflate; client_max_window_bits",
            )
            await peer.shake(b"/a%20b?c=d", *more)
            return peer.head.lower()

    head = run(main())

    assert head.startswith(b"http/1.1 101 switching protocols\r\n")
    for line in (b"upgrade: websocket", b"connection: upgrade", b"sec-websocket-protocol: b"):
        assert b"\r\n" + line + b"\r\n" in head
    assert b"sec-websocket-accept: " + ACCEPT.lower() in head
    assert b"x-own: 1" in head
    assert b"extensions" not in head
    [scope] = scopes
    assert (scope["type"], scope["scheme"], scope["http_version"]) == ("websocket", "ws", "1.1")
    assert (scope["path"], scope["query_string"]) == ("/a b", b"c=d")
    assert scope["subprotocols"] == ["a", "b"]
    assert "method" not in scope


def test_an_application_may_refuse_with_a_response(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        kind, headers = "websocket.http.response", [(b"content-length", b"2")]
        await send({"type": f"{kind}.start", "status": 404, "headers": headers})
        await send({"type": f"{kind}.body", "body": b"no"})

    async def main() -> tuple[int, bytes]:
        async with opened(app) as house, connected(house.port) as peer:
            status = await peer.shake(b"/")
            return status, await peer.read(100)

    assert run(main()) == (404, b"no")


async def shut(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.close"})


async def broken(scope: Any, receive: Any, send: Any) -> None:
    raise RuntimeError("broken")


@pytest.mark.parametrize(("app", "status"), [(shut, 403), (broken, 500)], ids=["shut", "broken"])
def test_a_handshake_that_is_not_accepted_is_answered(
    run: Callable[[Any], Any], app: Any, status: int
) -> None:
    async def main() -> int:
        async with opened(app) as house, connected(house.port) as peer:
            return await peer.shake(b"/")

    assert run(main()) == status


def test_an_application_that_fails_or_ends_closes_with_1011(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"] == "/fails":
            raise RuntimeError("broken")

    async def main() -> list[int | None]:
        async with opened(app) as house:
            codes = []
            for target in (b"/fails", b"/ends"):
                async with socket_to(house.port, target) as peer:
                    codes.append(await peer.closing())
            return codes

    assert run(main()) == [1011, 1011]


def test_frames_before_the_handshake_is_accepted_wait(run: Callable[[Any], Any]) -> None:
    go = asyncio.Event()

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await go.wait()
        await echo(scope, receive, send)

    async def main() -> list[Frame | None]:
        async with opened(late) as house, connected(house.port) as peer:
            await peer.send(handshake(b"/") + text(b"a") + text(b"b"))
            await peer.send(text(b"c"))
            go.set()
            assert await peer.read_head() == 101
            return [await peer.frame() for _ in range(3)]

    assert run(main()) == [Frame(TEXT, each) for each in (b"a", b"b", b"c")]


def test_an_application_that_does_not_receive_stops_the_client(run: Callable[[Any], Any]) -> None:
    go, taken = asyncio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        while (message := await receive())["type"] == "websocket.receive":
            taken.append(len(message["bytes"]))

    async def main() -> int:
        async with opened(app) as house, socket_to(house.port) as peer:
            pieces, sent = [frame(BINARY, b"*" * CAP)] * 4096, 0

            async def flood() -> None:
                nonlocal sent
                for each in pieces:
                    await peer.send(each)
                    sent += 1
                await peer.send(close_frame())

            flooding = asyncio.create_task(flood())
            (connection,) = house.manager.connections
            while connection.transport.is_reading():  # type: ignore[attr-defined]
                await asyncio.sleep(0.001)
            waiting = len(connection.session._waiting)  # type: ignore[attr-defined]
            go.set()
            await peer.rest()
            await flooding
            return waiting

    waiting = run(main())

    assert waiting <= 16
    assert taken == [CAP] * 4096


def test_a_client_that_does_not_read_is_not_read(run: Callable[[Any], Any]) -> None:
    async def main() -> bool:
        async with opened() as house, socket_to(house.port) as peer:
            (connection,) = house.manager.connections
            pings = asyncio.create_task(peer.send(*[frame(PING, b"*" * 125)] * 400_000))
            while connection.transport.is_reading():  # type: ignore[attr-defined]
                await asyncio.sleep(0.001)
            size = connection.transport.get_write_buffer_size()  # type: ignore[attr-defined]
            pings.cancel()
            return bool(size < 1024 * KIB)

    assert run(main())


def test_a_client_that_answers_no_ping_is_dropped(run: Callable[[Any], Any]) -> None:
    async def main() -> list[Frame]:
        async with opened(ping=0.01) as house, socket_to(house.port) as peer:
            now = asyncio.get_running_loop().time()
            for count in range(1, 5):
                for each in tuple(house.manager.connections):
                    each.on_tick(now + count * 0.02)
            return await peer.rest()

    assert run(main()) == [Frame(PING, b"")] * 3


def test_a_client_that_answers_pings_stays(run: Callable[[Any], Any]) -> None:
    async def main() -> bytes:
        async with opened(ping=0.01) as house, socket_to(house.port) as peer:
            now = asyncio.get_running_loop().time()
            for count in range(1, 10):
                for each in tuple(house.manager.connections):
                    each.on_tick(now + count * 0.02)
                assert await peer.frame() == Frame(PING, b"")
                await peer.send(frame(PONG), text(b"%d" % count))
                assert await peer.frame() == Frame(TEXT, b"%d" % count)
            await peer.send(text(b"here"))
            answer = await peer.frame()
            assert answer is not None
            return answer.payload

    assert run(main()) == b"here"


async def later(house: House, seconds: float) -> None:
    """Have the connections check their time at a clock that is so far ahead."""
    now = asyncio.get_running_loop().time()
    for each in tuple(house.manager.connections):
        each.on_tick(now + seconds)


def test_a_message_that_does_not_come_to_its_end_closes(run: Callable[[Any], Any]) -> None:
    async def main() -> int | None:
        async with opened() as house, socket_to(house.port) as peer:
            await peer.send(text(b"a", first=0), frame(PING))
            assert await peer.frame() == Frame(PONG, b"")
            await later(house, LIMITS.body_silence + 1)
            return await peer.closing()

    assert run(main()) == 1008


def test_a_client_that_does_not_answer_a_close_is_left(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 4001, "reason": "bye"})
        assert (await receive())["type"] == "websocket.disconnect"

    async def main() -> list[Frame]:
        async with opened(app) as house, socket_to(house.port) as peer:
            first = await peer.frame()
            assert first is not None
            await later(house, LIMITS.linger + 1)
            rest = await peer.rest()
            await later(house, 2 * LIMITS.linger + 2)
            while house.manager.connections:
                await asyncio.sleep(0.001)
            return [first, *rest]

    assert run(main()) == [Frame(CLOSE, (4001).to_bytes(2, "big") + b"bye")]


def test_a_client_that_takes_nothing_is_dropped(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            await send({"type": "websocket.send", "bytes": b"*" * 256 * KIB})
            await asyncio.sleep(0)

    async def main() -> bool:
        async with opened(app) as house, socket_to(house.port):
            (connection,) = house.manager.connections
            while connection.is_writable:  # type: ignore[attr-defined]
                await asyncio.sleep(0.001)
            await later(house, 0)
            await later(house, LIMITS.body_silence + 1)
            while house.manager.connections:
                await asyncio.sleep(0.001)
            for task in tuple(house.manager.tasks):
                task.cancel()
            return True

    assert run(main())


def test_a_stop_closes_sockets_with_1001(run: Callable[[Any], Any]) -> None:
    async def main() -> int | None:
        async with opened() as house, socket_to(house.port) as peer:
            house.stop.set()
            frames = [await peer.frame()]
            await peer.send(close_frame(1001))
            frames += await peer.rest()
            [only] = [each for each in frames if each is not None]
            return code_of(only)

    assert run(main()) == 1001


def test_an_application_may_finish_before_it_closes_at_a_stop(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        stop = asyncio.Event()
        scope[ON_STOP](stop.set)
        await receive()
        await send({"type": "websocket.accept"})
        await stop.wait()
        await send({"type": "websocket.send", "text": "the end"})
        await send({"type": "websocket.close", "code": 1001})

    async def main() -> list[bytes]:
        async with opened(app) as house, socket_to(house.port) as peer:
            house.stop.set()
            return [each.payload[:7] for each in await peer.rest()]

    assert run(main()) == [b"the end", (1001).to_bytes(2, "big")]


def test_an_application_learns_of_a_stop_that_came_before(run: Callable[[Any], Any]) -> None:
    go = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await go.wait()
        stop = asyncio.Event()
        scope[ON_STOP](stop.set)
        assert stop.is_set()
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1001})

    async def main() -> int | None:
        async with opened(app) as house, connected(house.port) as peer:
            await peer.send(handshake(b"/"))
            while not house.manager.tasks:
                await asyncio.sleep(0.001)
            house.stop.set()
            while not house.manager.closing:
                await asyncio.sleep(0.001)
            go.set()
            assert await peer.read_head() == 101
            return await peer.closing()

    assert run(main()) == 1001


def test_an_application_that_does_not_close_at_a_stop_is_closed(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope[ON_STOP](lambda: None)
        await echo(scope, receive, send)

    async def main() -> int | None:
        async with opened(app, drain=0.1) as house, socket_to(house.port) as peer:
            house.stop.set()
            return await peer.closing()

    assert run(main()) == 1001


def test_sockets_count_as_connections(run: Callable[[Any], Any]) -> None:
    async def main() -> tuple[int, bytes]:
        async with opened(connections=2) as house, socket_to(house.port), socket_to(house.port):
            count = len(house.manager.connections)
            async with connected(house.port) as third:
                await third.send(handshake(b"/"))
                with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                    await third.read_head()
                return count, third.head

    assert run(main()) == (2, b"")


def test_nothing_is_left_of_a_socket(run: Callable[[Any], Any]) -> None:
    async def main() -> tuple[int, int]:
        async with opened() as house:
            for _ in range(3):
                async with socket_to(house.port) as peer:
                    await peer.send(text(b"a"))
                    await peer.frame()
            while house.manager.connections or house.manager.tasks:
                await asyncio.sleep(0.001)
            return len(house.manager.connections), len(house.manager.tasks)

    assert run(main()) == (0, 0)


def test_a_handshake_cannot_be_pipelined(run: Callable[[Any], Any]) -> None:
    go = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await go.wait()
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    async def main() -> bytes:
        async with opened(app) as house, connected(house.port) as peer:
            await peer.send(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n" + handshake(b"/"))
            go.set()
            return await peer.read(100)

    assert not run(main()).startswith(b"HTTP/1.1 101")


def test_a_socket_follows_requests_on_the_same_connection(run: Callable[[Any], Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await echo(scope, receive, send)
            return
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    async def main() -> Frame | None:
        async with opened(app) as house, connected(house.port) as peer:
            await peer.send(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n")
            assert await peer.read_head() == 200
            assert await peer.read(2) == b"ok"
            peer.head = b""
            assert await peer.shake(b"/") == 101
            await peer.send(text(b"a"))
            return await peer.frame()

    assert run(main()) == Frame(TEXT, b"a")


CUTS = {"good": ([text(b"a")], 1000), "bad": ([text(b"a", mask=False)], 1002)}


@pytest.mark.anyio
@pytest.mark.parametrize(("sent", "code"), CUTS.values(), ids=CUTS.keys())
async def test_sockets_open_and_close_over_tls(
    issued: Issued, sent: list[bytes], code: int
) -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await echo(scope, receive, send)

    async with (
        place(app, issued, http2=False, message=CAP) as here,
        connected(here.port, issued.trusting()) as peer,
    ):
        assert await peer.shake(b"/") == 101
        await peer.send(*sent)
        if code == 1000:
            assert await peer.frame() == Frame(TEXT, b"a")
            await peer.send(close_frame())
        closing = await peer.closing()
        while here.manager.connections:
            await asyncio.sleep(0.001)

    assert closing == code
    assert scopes[0]["scheme"] == "wss"
