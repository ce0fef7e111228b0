"""MCP servers at addresses, on loopback: one on the official library, and hostile ones."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from socket import create_server
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
RELEASED = threading.Event()
TOKEN = "canary-token-of-the-server"


def tool_server() -> MCPServer:
    """Tools that work, and one that fails."""
    server = MCPServer("tools")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def greet(name: str) -> str:
        """Say hello."""
        return f"Hello {name}"

    @server.tool()
    def fail() -> str:
        """Fails."""
        raise ToolError("it does not work")

    @server.tool()
    def leak() -> str:
        """Fails with the secret it was sent."""
        raise ToolError(f"Bearer {TOKEN} is wrong")

    @server.tool()
    async def wait(seconds: float, ctx: Context) -> str:
        """Answers late."""
        await asyncio.sleep(seconds)
        return "late"

    @server.tool()
    async def hold() -> str:
        """Answers once ``RELEASED`` is set."""
        while not RELEASED.is_set():
            await asyncio.sleep(0.02)
        return "released"

    @server.tool()
    def long(kilobytes: int) -> str:
        """A long answer."""
        return "x" * (kilobytes * 1024)

    return server


class Seen:
    """An application in front of another one, that keeps the heads of requests."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.headers: list[dict[str, str]] = []
        self.methods: list[str] = []

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.headers.append({n.decode(): v.decode() for n, v in scope["headers"]})
            self.methods.append(scope["method"])
        await self.app(scope, receive, send)


@contextmanager
def served(app: App) -> Iterator[str]:
    """Serve an application until the block ends; gives its origin."""
    listener = create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


class Hostile:
    """Answers each POST in one bad way."""

    def __init__(self, way: str, elsewhere: str = "") -> None:
        self.way, self.elsewhere = way, elsewhere
        self.is_left = threading.Event()
        """A client has gone in the middle of an answer."""

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        json, events = b"application/json", b"text/event-stream"
        match self.way:
            case "silent":
                while (await receive())["type"] != "http.disconnect":
                    pass
                self.is_left.set()
            case "endless json":
                await self._pour(send, json, b" " * 65536)
            case "endless event":
                await self._pour(send, events, b"data: " + b"x" * 65536)
            case "endless events":
                await self._pour(send, events, b": ping\n\n" * 1000)
            case "slow events":
                await self._pour(send, events, b": ping\n\n", 0.05)
            case "compressed":
                await self._answer(send, 200, b"x", json, (b"content-encoding", b"gzip"))
            case "redirect":
                location = (b"location", self.elsewhere.encode())
                await self._answer(send, 307, b"", json, location)
            case "no protocol":
                await self._answer(send, 200, b'{"hello": [1, 2, 3]}', json)
            case "html":
                await self._answer(send, 200, b"<html>", b"text/html")
            case "error":
                await self._answer(send, 500, b"canary", b"text/plain")

    async def _answer(self, send: Any, status: int, body: bytes, kind: bytes, *more: Any) -> None:
        headers = [(b"content-type", kind), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _pour(self, send: Any, kind: bytes, piece: bytes, pause: float = 0) -> None:
        headers = [(b"content-type", kind)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            while True:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(pause)
        except (OSError, asyncio.CancelledError):
            self.is_left.set()
            raise
