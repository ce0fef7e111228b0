"""A server of HTTP/1.1 with any application, on an event loop of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from gateway_core.server import Server, listen
from gateway_core.server.door import Door
from gateway_core.server.limits import Limits

App = Callable[[Any, Any, Any], Awaitable[None]]
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET %b HTTP/1.1\r\nHost: h\r\n\r\n"
WITHIN = 5.0


class House:
    """A server that is open, and how to reach it."""

    def __init__(self, port: int, door: Door, stop: asyncio.Event) -> None:
        self.port, self.door, self.stop = port, door, stop

    async def call(self) -> Client:
        return await asyncio.open_connection("127.0.0.1", self.port)


def run(server: Server, main: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(WITHIN):
            await main()

    with asyncio.Runner(loop_factory=server.loop) as runner:
        runner.run(in_time())


@asynccontextmanager
async def opened(server: Server, app: App) -> AsyncIterator[House]:
    listener = listen("127.0.0.1", 0)
    stop, door = asyncio.Event(), Door(Limits(drain=0.1, hurry=0.1))
    serving = asyncio.create_task(server.serve(app, listener, stop, door))
    await asyncio.sleep(0)
    try:
        yield House(listener.getsockname()[1], door, stop)
    finally:
        stop.set()
        await serving


async def say(send: Any, body: bytes) -> None:
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def heard(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head and the body of one answer with a length."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head, await reader.readexactly(length)
