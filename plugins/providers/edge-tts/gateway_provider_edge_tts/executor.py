"""Sends requests as the browser does: with its tokens, and a text over a WebSocket."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from importlib import import_module

from msgspec import json

from gateway_core import Credential, SocketTransport, UpstreamRequest, UpstreamResponse


class EdgeExecutor:
    """A list of voices is one GET. A text is spoken over one socket for each of its pieces."""

    name = "edge-tts"

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: SocketTransport
    ) -> UpstreamResponse:
        """Raises TransportError, UpstreamError."""
        # The library is large; importing it here would hold the event loop up.
        await asyncio.to_thread(import_module, f"{__package__}.conversation")
        from .conversation import Script, listing, speak

        if request.method == "GET":
            return await transport.send(listing(request))
        sound = speak(transport, request, json.decode(request.body, type=Script))
        return Sound(sound, await anext(sound))


class Sound:
    """The answer, once its first piece is there."""

    status = 200

    def __init__(self, sound: AsyncGenerator[bytes], first: bytes) -> None:
        self.headers: Mapping[str, str] = {"content-type": "audio/mpeg"}
        self._sound, self._first = sound, first

    async def next(self) -> bytes:
        """Raises TransportError."""
        first, self._first = self._first, b""
        return first or await anext(self._sound, b"")

    async def aclose(self) -> None:
        await self._sound.aclose()
