"""Applications that an HTTP/2 client of a test talks to, and what several of its tests ask."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gateway_server_fast.unsent import unsent_bytes
from h2.errors import ErrorCodes
from h2_peer import Place, frame

CALM, FINE = ErrorCodes.ENHANCE_YOUR_CALM, ErrorCodes.NO_ERROR
MIB = 1024 * 1024
PING = frame(6, data=b"12345678")
Send = Callable[[Any], Awaitable[None]]


async def start(send: Send, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def say(send: Send, body: bytes = b"", *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def read(receive: Any) -> bytes:
    """A whole body, as far as it comes."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    return body


async def echo(scope: Any, receive: Any, send: Send) -> None:
    """Answers with the body it gets."""
    body = await read(receive)
    await start(send)
    await say(send, body)


class Held:
    """An application that answers when it is told to, and keeps what it heard until then."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = self.ended = 0
        self.heard: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        self.begun += 1
        await self.go.wait()
        self.heard.append((await receive())["type"])
        await start(send)
        await say(send, b"held")
        self.ended += 1


async def settle(until: Callable[[], object]) -> None:
    """Let the event loop come around until something is so."""
    async with asyncio.timeout(5):
        while not until():
            await asyncio.sleep(0.001)


def streams(here: Place) -> list[Any]:
    return [s for v in here.manager.connections for s in getattr(v, "streams", {}).values()]


async def much(scope: Any, receive: Any, send: Send) -> None:
    """Answers at great length."""
    await start(send)
    await say(send, b"a" * MIB)


async def stuck(here: Place, peer: Any) -> int:
    """The number of a stream that waits for its client to take more."""
    peer.takes = False
    number = await peer.request()
    await settle(lambda: streams(here) and streams(here)[-1]._stuck)
    await settle(lambda: not any(unsent_bytes(each.transport) for each in here.manager.connections))  # type: ignore[attr-defined]
    here.pass_time(0)
    return int(number)
