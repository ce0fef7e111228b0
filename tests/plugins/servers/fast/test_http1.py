"""HTTP/1.1 over a socket, by each server: what the application and the client see."""

import asyncio
import logging
import socket
from typing import Any

import pytest
from gateway_server_fast.connections import ConnectionManager
from gateway_server_fast.http1.protocol import Http1Protocol
from gateway_server_fast.http1.request_cycle import CommonHeaders
from gateway_server_fast.http1.request_head import RefusedRequest
from http1_house import GET, heard, opened, run, say

from gateway_cli.event_loop import LOOPS, loop_factory
from gateway_cli.listening import listen
from gateway_core import ServerLimits
from gateway_core.contracts.asgi import REPLY


@pytest.fixture(params=LOOPS)
def server(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_each_server_has_its_event_loop() -> None:
    names = {}
    for name in LOOPS:
        loop = loop_factory(name)()
        names[name] = type(loop).__module__.partition(".")[0]
        loop.close()

    assert names == {
        "uvloop": "uvloop",
        "asyncio": "asyncio",
    }


def test_an_application_is_told_where_a_request_is_from_and_for(server: str) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append({**scope})
        await say(send, b"")

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(GET % b"http://h/a%20b?c=%20" + GET % b"/")
            await heard(reader)
            own, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
            writer.close()

        assert (seen[0]["client"], seen[0]["server"]) == (own, there)

    run(server, main)

    first = seen[0]
    assert (first["method"], first["scheme"], first["http_version"]) == ("GET", "http", "1.1")
    assert (first["path"], first["raw_path"]) == ("/a b", b"/a%20b")
    assert first["query_string"] == b"c=%20"
    assert first["headers"] == [(b"host", b"h")]


def test_requests_that_come_together_are_answered_one_after_the_other(server: str) -> None:
    running: list[str] = []
    together: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        running.append(scope["path"])
        together.append(len(running))
        await asyncio.sleep(0)
        running.remove(scope["path"])
        await say(send, scope["path"].encode())

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(b"".join(GET % b"/%d" % number for number in range(5)))
            answers = [(await heard(reader))[1] for _ in range(5)]
            writer.close()

        assert answers == [b"/0", b"/1", b"/2", b"/3", b"/4"]

    run(server, main)

    assert together == [1] * 5


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"])
def test_a_client_that_takes_nothing_of_its_answer_is_let_go(server: str, last: bytes) -> None:
    much = b"a" * (32 << 20)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await say(send, much)

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n" + last + b"\r\n")
            await reader.readexactly(1)
            now = asyncio.get_running_loop().time()
            (line,) = house.manager.connections
            line.on_tick(now)
            taken = len(await reader.read(4 << 20))
            while taken < 12 << 20:
                taken += len(await reader.read(1 << 20))
            line.on_tick(now + 31)
            is_patient = bool(house.manager.connections)
            line.on_tick(now + 61)
            line.on_tick(now + 92)
            while house.manager.connections:
                await asyncio.sleep(0.001)
            writer.transport.abort()

        assert is_patient

    run(server, main)


@pytest.mark.parametrize("behind", [0, 2])
def test_a_request_hears_that_its_client_is_gone(server: str, behind: int) -> None:
    reported: list[str] = []
    gone = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            continue
        reported.append(message["type"])
        gone.set()

    async def main() -> None:
        async with opened(server, app) as house:
            _, writer = await house.call()
            writer.write(GET % b"/" * (1 + behind))
            await writer.drain()
            # A client that closes its side alone is taken for gone as well.
            writer.write_eof()
            await gone.wait()
            writer.close()

    run(server, main)

    assert reported == ["http.disconnect"]


def test_a_client_is_told_to_go_on_when_its_body_is_asked_for(server: str) -> None:
    head = b"POST /%b HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await say(send, (await receive())["body"] if scope["path"] == "/read" else b"no")

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(head % b"read")
            first = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"ok")
            read = await heard(reader)
            writer.write(head % b"leave")
            unread = await heard(reader)
            writer.close()

        assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert (read[1], unread[1]) == (b"ok", b"no")

    run(server, main)


def test_who_writes_waits_for_a_client_that_does_not_read(server: str) -> None:
    sent = []
    piece = b"x" * 65536

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(400):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            sent.append(len(piece))
        await send({"type": "http.response.body", "body": b""})

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(GET % b"/")
            await reader.readuntil(b"\r\n\r\n")
            before = -1
            while before != len(sent):
                before = len(sent)
                for _ in range(50):
                    await asyncio.sleep(0)
            end = b""
            while not end.endswith(b"\r\n0\r\n\r\n"):
                end = end[-6:] + await reader.read(1 << 20)
            writer.close()

        assert before < 400

    run(server, main)

    assert len(sent) == 400


def test_every_answer_tells_the_date_of_the_last_tick(server: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await say(send, b"")

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(GET % b"/")
            head, _ = await heard(reader)
            writer.close()

        assert head.count(b"\r\ndate: ") == 1
        assert b" gmt\r\n" in head

    run(server, main)


def test_a_request_whose_turn_comes_after_the_stop_is_not_served(server: str) -> None:
    served: list[str] = []
    ask, stopped = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope["path"])
        ask.set()
        await stopped.wait()
        await say(send, b"")

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(GET % b"/first" + GET % b"/second")
            await ask.wait()
            house.stop.set()
            while not house.manager.closing:
                await asyncio.sleep(0)
            stopped.set()
            first, second = await heard(reader), await heard(reader)
            rest = await reader.read()
            writer.close()

        assert first[0].startswith(b"http/1.1 200 ")
        assert second[0].startswith(b"http/1.1 503 ")
        assert b"connection: close" in second[0]
        assert rest == b""

    run(server, main)

    assert served == ["/first"]


def test_a_refusal_for_a_client_that_is_gone_troubles_nobody(
    server: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("nothing was asked")

    async def main() -> None:
        listener = listen("127.0.0.1", 0)
        client = socket.create_connection(listener.getsockname())
        here, _ = listener.accept()
        listener.close()
        loop, manager = asyncio.get_running_loop(), ConnectionManager(ServerLimits())
        _, connection = await loop.connect_accepted_socket(
            lambda: Http1Protocol(app, manager, CommonHeaders()), here
        )
        # It goes, and the loop does not come around in between.
        client.close()

        connection.refuse(RefusedRequest(408, "Too late"))
        while manager.connections:
            await asyncio.sleep(0)

    with caplog.at_level(logging.WARNING):
        run(server, main)

    assert caplog.messages == []


@pytest.mark.parametrize("way", ["sent", "at once"])
def test_an_answer_before_the_end_of_its_request_says_that_the_connection_closes(
    server: str, way: str
) -> None:
    heard: list[bytes] = []

    async def refuses(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"3")]
        if way == "at once" and scope[REPLY](413, headers, b"big"):
            return
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": b"big", "more_body": False})

    async def main() -> None:
        async with opened(server, refuses) as house:
            for sent in (b"a" * 10, b"a" * 20):
                reader, writer = await house.call()
                writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n" + sent)
                heard.append(await reader.readuntil(b"big"))
                if len(sent) == 10:
                    writer.write(b"a" * 10)
                    heard.append(await reader.read())
                writer.close()

    run(server, main)
    early, end, late = heard

    assert early.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nconnection: close\r\n" in early
    assert end == b""
    assert b"connection:" not in late
