"""How connections of HTTP/1.1 end, by each server."""

import asyncio
from typing import Any

import pytest
from http1_house import GET, heard, opened, run, say

from gateway_cli.event_loop import LOOPS
from gateway_core.contracts.asgi import ON_DISCONNECT


@pytest.fixture(params=LOOPS)
def server(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_nothing_stays_of_a_client_that_leaves_in_the_middle_of_a_body(server: str) -> None:
    entered, gone = asyncio.Event(), asyncio.Event()
    piece = b"1000\r\n" + b"x" * 4096 + b"\r\n"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope[ON_DISCONNECT](gone.set)
        entered.set()
        await gone.wait()

    async def main() -> None:
        async with opened(server, app) as house:
            (await house.call())[1].close()
            while not house.manager.connections:
                await asyncio.sleep(0.001)
            before = asyncio.all_tasks()
            _, writer = await house.call()
            writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            await entered.wait()
            for _ in range(14):  # More than anybody keeps for an application that takes nothing.
                writer.write(piece)
                await asyncio.sleep(0.001)
            writer.transport.abort()
            while asyncio.all_tasks() - before:
                await asyncio.sleep(0.001)

    run(server, main)

    assert gone.is_set()


def test_a_client_is_seen_to_leave_while_the_request_before_still_tidies_up(
    server: str,
) -> None:
    entered, tidied, gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
    left: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/first":
            await say(send, b"")
            await entered.wait()
            tidied.set()
            return
        scope[ON_DISCONNECT](gone.set)
        entered.set()
        await gone.wait()
        left.append(scope["path"])

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(GET % b"/first")
            await heard(reader)
            writer.write(GET % b"/second")
            await tidied.wait()
            await asyncio.sleep(0.01)
            writer.transport.abort()
            while house.manager.tasks:
                await asyncio.sleep(0.001)

    run(server, main)

    assert left == ["/second"]


@pytest.mark.parametrize("status", [200, 204])
def test_an_answer_without_a_body_comes_before_the_connection_closes(
    server: str, status: int
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0")] if status == 200 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    heard: list[bytes] = []

    async def main() -> None:
        async with opened(server, app) as house:
            reader, writer = await house.call()
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            heard.append(await reader.read())
            writer.close()

    run(server, main)

    assert heard[0].startswith(b"HTTP/1.1 %d" % status)
    assert heard[0].endswith(b"\r\n\r\n")
