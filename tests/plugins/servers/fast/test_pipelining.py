"""Clients that send requests without pause: what is kept of them has a bound."""

import asyncio
import gc
from typing import Any

import psutil
import pytest
from certificates import Issued
from gateway_server_fast.http1.protocol import PIPELINE_LIMIT, Http1Protocol
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2_peer import place
from http1_house import GET, heard, opened, run, say

from gateway_cli.event_loop import LOOPS

MIB = 1024 * 1024
MOST = 16 * MIB
REQUESTS = 40_000
"""Of each run."""
SECONDS = 3.0
BODY = b"x" * 100


def used() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_read_is_parsed_no_further_than_the_pipeline_has_room(loop: str) -> None:
    go, most = asyncio.Event(), []
    served: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await go.wait()
        await receive()
        served.append(scope["path"])
        await say(send, b"")

    async def main() -> None:
        async with opened(loop, app) as house:
            reader, writer = await house.call()
            writer.write(b"".join(GET % b"/%d" % number for number in range(1000)))
            await writer.drain()
            while not house.manager.tasks:
                await asyncio.sleep(0.001)
            (connection,) = house.manager.connections
            assert isinstance(connection, Http1Protocol)
            most.append(len(connection.cycles))
            go.set()
            for _ in range(1000):
                await heard(reader)
                most.append(len(connection.cycles))
            writer.close()

    run(loop, main)

    assert max(most) <= PIPELINE_LIMIT
    assert served == [f"/{number}" for number in range(1000)]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
def test_pipelined_bodies_arrive_whole_however_they_are_cut(framing: str, size: int) -> None:
    bodies: list[bytes] = []
    requests = {
        "length": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\r\n\r\n",
        "chunked": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"4\r\n\r\n\r\n\r\n0\r\nA: b\r\n\r\n",
        "none": b"GET / HTTP/1.1\r\nHost: h\r\n\r\n\r\n",
    }
    whole = requests[framing] * 9

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        bodies.append(body)
        await say(send, b"")

    async def main() -> None:
        async with opened("uvloop", app) as house:
            reader, writer = await house.call()
            for at in range(0, len(whole), size):
                writer.write(whole[at : at + size])
                await asyncio.sleep(0)
            for _ in range(9):
                await heard(reader)
            writer.close()

    run("uvloop", main)

    assert bodies == [b"" if framing == "none" else b"\r\n\r\n"] * 9


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("clients", [1, 40])
def test_endless_requests_of_http_1_do_not_fill_the_memory(clients: int, loop: str) -> None:
    """The clients read nothing until the responses fill their windows, and go on sending."""
    pieces = GET % b"/" * 2000
    grown: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await say(send, BODY)

    async def flood(port: int, until: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
        clock = asyncio.get_running_loop().time
        while clock() < until:
            writer.write(pieces)
            try:
                async with asyncio.timeout_at(until):
                    await writer.drain()
            except (TimeoutError, ConnectionError):
                break
        writer.transport.abort()
        await asyncio.sleep(0)
        del reader

    async def main() -> None:
        async with opened(loop, app) as house:
            before, end = used(), asyncio.get_running_loop().time() + SECONDS
            floods = [asyncio.create_task(flood(house.port, end)) for _ in range(clients)]
            while asyncio.get_running_loop().time() < end:
                await asyncio.sleep(SECONDS / 10)
                # Of each client one request runs; the task before it may still be tidying up.
                assert len(house.manager.tasks) <= 3 * clients
                kept = sum(_kept(each) for each in house.manager.connections)
                grown.append(kept)
            await asyncio.gather(*floods)
            grown.append(used() - before - clients * len(pieces))

    run(loop, main)

    assert max(grown) <= MOST


def _kept(connection: Any) -> int:
    """Bytes that a connection keeps of its requests."""
    assert len(connection.cycles) <= PIPELINE_LIMIT
    return len(connection._unparsed)


@pytest.mark.parametrize("clients", [1, 40])
@pytest.mark.anyio
async def test_endless_requests_of_http_2_do_not_fill_the_memory(
    issued: Issued, clients: int
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await say(send, BODY)

    async def flood(port: int, until: float) -> None:
        trusting = issued.trusting("h2")
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        h2.initiate_connection()
        head = [(b":method", b"GET"), (b":scheme", b"https"), (b":path", b"/")]
        clock = asyncio.get_running_loop().time
        for _ in range(REQUESTS // clients):
            number = h2.get_next_available_stream_id()
            h2.send_headers(number, [*head, (b":authority", b"a")], end_stream=True)
            h2.reset_stream(number)
            writer.write(h2.data_to_send())
            try:
                async with asyncio.timeout_at(until):
                    await writer.drain()
            except (TimeoutError, ConnectionError):
                break
            if writer.transport.is_closing() or clock() > until:
                break
            await asyncio.sleep(0)
        writer.transport.abort()
        del reader

    async with place(app, issued) as here:
        before, end = used(), asyncio.get_running_loop().time() + SECONDS
        await asyncio.gather(*(flood(here.port, end) for _ in range(clients)))
        grown = used() - before

    assert grown <= MOST
