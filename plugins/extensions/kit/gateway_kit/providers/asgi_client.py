"""A client of the gateway without a socket: one request to an ASGI application."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

ASGI = Any
"""An ASGI application; its messages are dictionaries, as the standard has them."""


HERE = "127.0.0.1"
ELSEWHERE = "203.0.113.9"
"""The address of a client on another machine."""


class ClientAnswer(Struct):
    """What the client got so far."""

    status: int = 0
    headers: dict[str, str] = {}
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class ClientCall:
    """One request on its way; ``answer`` grows while it runs."""

    def __init__(
        self,
        app: ASGI,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        method: str = "POST",
        client: str = HERE,
    ) -> None:
        self.answer = ClientAnswer()
        self._app = app
        self._scope = _scope(path, body, headers, method, client)
        self._body = body
        self._asked = False
        self._left = asyncio.Event()
        self._grown = asyncio.Condition()

    async def run(self) -> ClientAnswer:
        await self._app(self._scope, self._receive, self._send)
        return self.answer

    async def seen(self, words: bytes) -> None:
        """Wait until the client has seen these bytes."""
        async with self._grown:
            await self._grown.wait_for(lambda: words in self.answer.body)

    def leave(self) -> None:
        """The client hangs up."""
        self._left.set()

    @property
    def has_left(self) -> bool:
        return self._left.is_set()

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Mapping[str, Any]) -> None:
        if self._left.is_set():
            raise OSError("the client is gone")
        if message["type"] == "http.response.start":
            self.answer.status = message["status"]
            headers = message.get("headers", ())
            self.answer.headers = {name.decode(): value.decode() for name, value in headers}
        elif message["type"] == "http.response.body":
            self.answer.body += message.get("body", b"")
            async with self._grown:
                self._grown.notify_all()


def _scope(
    path: str, body: bytes, headers: Mapping[str, str], method: str, client: str
) -> dict[str, Any]:
    path, _, query = path.partition("?")
    named = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "content-length": str(len(body)),
        **headers,
    }
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "client": (client, 50_000),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
