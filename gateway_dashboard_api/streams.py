"""Answers that are sent piece by piece; their source is closed however they end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Send

from gateway_core.http.operations import STREAM
from gateway_core.http.responses import NO_STORE


class Frames(StreamingResponse):
    """A stream of events whose source is closed whenever the stream ends, early or late."""

    def __init__(self, source: AsyncGenerator[bytes, None]) -> None:
        headers = {**NO_STORE, "x-accel-buffering": "no"}
        super().__init__(source, headers=headers, media_type=STREAM)
        self._source = source

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._source):
            await super().stream_response(send)


class Attachment(StreamingResponse):
    """A file whose source is closed whenever it ends, early or late."""

    def __init__(self, source: AsyncGenerator[bytes, None], name: str) -> None:
        headers = {**NO_STORE, "content-disposition": f'attachment; filename="{name}"'}
        super().__init__(source, headers=headers, media_type="application/json")
        self._source = source

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        finally:
            await self._source.aclose()
