"""A vendor on loopback that sends scripted answers byte for byte."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec


@dataclass
class ReceivedRequest:
    """A request as the vendor received it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    repeated: tuple[str, ...] = ()
    """Names of headers that came more than once."""

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    def members(self) -> dict[str, Any]:
        """The body's, where it is an object. Raises what decoding raises."""
        members: dict[str, Any] = self.json() if self.body.lstrip().startswith(b"{") else {}
        return members

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass
class MockResponse:
    """An answer: whole when ``chunked`` is false, else one HTTP chunk for each piece."""

    pieces: Sequence[bytes] = (b"{}",)
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    chunked: bool = False
    pause: float = 0.0
    """Seconds before each piece."""
    delay: float = 0.0
    """Seconds before the head."""
    cut: bool = False
    """Drop the connection where the end of the body should be."""
    hang: bool = False
    """Never end the body."""

    @classmethod
    def stream(cls, *pieces: bytes, content_type: str = "text/event-stream", **more: Any) -> Self:
        return cls(pieces, content_type=content_type, chunked=True, **more)


Script = Callable[[ReceivedRequest], MockResponse]


class MockVendor:
    """Serves until closed. ``received`` holds every request, ``gone`` counts early leavers."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[ReceivedRequest] = []
        self.gone = 0
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self, port: int = 0) -> None:
        """Listen; port 0 takes any free one. Raises OSError."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                request = await _read(reader)
                self.received.append(request)
                response = self.script(request)
                watch = asyncio.create_task(reader.read(1))
                try:
                    await self._pause(response.delay, watch)
                    writer.write(_head(response))
                    for piece in response.pieces:
                        await self._pause(response.pause, watch)
                        writer.write(
                            b"%x\r\n%b\r\n" % (len(piece), piece) if response.chunked else piece
                        )
                        await writer.drain()
                    while response.hang:
                        await self._pause(0.05, watch)
                    if response.cut:
                        raise _Dropped
                    if response.chunked:
                        writer.write(b"0\r\n\r\n")
                    await writer.drain()
                finally:
                    watch.cancel()
                    # A connection that the other side reset is no trouble here.
                    await asyncio.gather(watch, return_exceptions=True)
        except (asyncio.IncompleteReadError, ConnectionError, _Dropped):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _pause(self, seconds: float, watch: "asyncio.Task[bytes]") -> None:
        if seconds:
            await asyncio.wait((watch,), timeout=seconds)
            if watch.done():
                self.gone += 1
                raise _Dropped


class _Dropped(Exception):
    pass


def _head(response: MockResponse) -> bytes:
    lines = [f"HTTP/1.1 {response.status} Said", f"content-type: {response.content_type}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    size = sum(map(len, response.pieces)) + (1 if response.cut or response.hang else 0)
    lines.append("transfer-encoding: chunked" if response.chunked else f"content-length: {size}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    """Raises _Cut for what is no request."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        fields = [line.partition(":") for line in head[1:] if line]
        names = [name.lower() for name, _, _ in fields]
        headers = {name.lower(): value.strip() for name, _, value in fields}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        repeated = tuple(sorted({name for name in names if names.count(name) > 1}))
        return ReceivedRequest(method, target, headers, body, repeated)
    except (ValueError, asyncio.LimitOverrunError):
        raise _Dropped from None
