"""A server of HTTP/1.1 with any application, on an event loop of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from gateway_server_fast.connections import ConnectionManager
from gateway_server_fast.server import FastServer

from gateway_cli.event_loop import loop_factory
from gateway_cli.listening import listen
from gateway_core import ServerLimits, ServerOptions

App = Callable[[Any, Any, Any], Awaitable[None]]
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET %b HTTP/1.1\r\nHost: h\r\n\r\n"
WITHIN = 20.0


class House:
    """A server that is open, and how to reach it."""

    def __init__(self, port: int, manager: ConnectionManager, stop: asyncio.Event) -> None:
        self.port, self.manager, self.stop = port, manager, stop

    async def call(self) -> Client:
        return await asyncio.open_connection("127.0.0.1", self.port)


def run(server: str, main: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(WITHIN):
            await main()

    with asyncio.Runner(loop_factory=loop_factory(server)) as runner:
        runner.run(in_time())


@asynccontextmanager
async def opened(server: str, app: App) -> AsyncIterator[House]:
    listener, stop = listen("127.0.0.1", 0), asyncio.Event()
    fast = FastServer(ServerOptions(limits=ServerLimits(drain=0.1, short_drain=0.1)))
    serving = asyncio.create_task(fast.serve(app, listener, stop.wait))
    await asyncio.sleep(0)
    try:
        yield House(listener.getsockname()[1], fast.manager, stop)
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
