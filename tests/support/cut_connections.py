"""A server between the gateway and its database that cuts connections when it is told to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal
from urllib.parse import urlsplit

When = Literal["never", "before", "after"]


class Cutter:
    """Passes bytes on, and cuts a connection before or after a statement reaches the database."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.when: When = "never"
        self.statement = b"COMMIT"
        self.times = 0
        """How often it has cut."""

    def url(self, original: str) -> str:
        """The database's URL, by way of this."""
        port = urlsplit(original).port
        return original.replace(f":{port}/", f":{self.port}/")

    def is_due(self, data: bytes) -> bool:
        return self.when != "never" and self.statement in data


@asynccontextmanager
async def cutting(url: str) -> AsyncIterator[Cutter]:
    """A cutter before a database."""
    address = urlsplit(url)

    async def pump(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: Callable[[bytes], bool]
    ) -> None:
        while data := await reader.read(65536):
            if cut(data):
                return
            writer.write(data)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, out = await asyncio.open_connection(address.hostname, address.port)
        answered = False

        def cut_request(data: bytes) -> bool:
            nonlocal answered
            if not cutter.is_due(data):
                return False
            answered = cutter.when == "after"
            cutter.when = "never"
            cutter.times += 1
            return not answered

        def cut_answer(data: bytes) -> bool:
            return answered

        pumps = [
            asyncio.create_task(pump(reader, out, cut_request)),
            asyncio.create_task(pump(upstream, writer, cut_answer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in pumps:
                task.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            writer.transport.abort()
            out.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    cutter = Cutter(server.sockets[0].getsockname()[1])
    try:
        yield cutter
    finally:
        server.close()
