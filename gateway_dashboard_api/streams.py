"""Responses that are sent piece by piece."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Send

from gateway_core.http.operations import STREAM
from gateway_core.http.responses import NO_STORE


class Frames(StreamingResponse):
    """An event stream that closes its source when it ends, also when the client leaves early."""

    def __init__(self, source: AsyncGenerator[bytes, None]) -> None:
        headers = {**NO_STORE, "x-accel-buffering": "no"}
        super().__init__(source, headers=headers, media_type=STREAM)
        self._source = source

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._source):
            await super().stream_response(send)


class Attachment(StreamingResponse):
    """A file download that closes its source when it ends, also when the client leaves early."""

    def __init__(self, source: AsyncGenerator[bytes, None], name: str) -> None:
        headers = {**NO_STORE, "content-disposition": f'attachment; filename="{name}"'}
        super().__init__(source, headers=headers, media_type="application/json")
        self._source = source

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        finally:
            await self._source.aclose()
