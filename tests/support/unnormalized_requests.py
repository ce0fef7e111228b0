"""Requests that no client library normalizes: as bytes, and as ASGI scopes."""

import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct


class Answer(Struct, frozen=True):
    """A response. A connection that was closed without one has status 0."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


NO_ANSWER = Answer(0, {}, b"")


def send_raw(url: str, request: bytes) -> Answer:
    """Send bytes to a served gateway and read until it closes the connection."""
    parts = urlsplit(url)
    answer = bytearray()
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as peer:
        peer.sendall(request)
        try:
            while piece := peer.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
    return _read(bytes(answer))


def raw_request(target: bytes, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
    """A request that ends its connection; ``lines`` are its headers, Host among them."""
    head = [f"{method} ".encode() + target + b" HTTP/1.1", *(line.encode() for line in lines)]
    length = [f"Content-Length: {len(body)}".encode()] if body else []
    return b"\r\n".join([*head, *length, b"Connection: close", b"", body])


def _read(answer: bytes) -> Answer:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    if not first.startswith(b"HTTP/1.1 "):
        return NO_ANSWER
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Answer(int(first[9:12]), headers, body)


async def call_app(
    app: Any,
    target: str,
    *,
    method: str = "GET",
    client: str = "127.0.0.1",
    headers: Mapping[str, str] = {},
    repeated: tuple[tuple[str, str], ...] = (),
    root_path: str = "",
) -> Answer:
    """Call an application as a server does, with a target that is not normalized."""
    path, _, query = target.partition("?")
    reported = [*{"host": "127.0.0.1", **headers}.items(), *repeated]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": root_path + unquote(path),
        "raw_path": (root_path + path).encode("latin-1"),
        "root_path": root_path,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in reported],
        "client": (client, 1),
        "server": ("127.0.0.1", 80),
    }
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start, *bodies = messages
    given = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], given, b"".join(each.get("body", b"") for each in bodies))
