"""Sends the content of a file, or a part of it, as fast as the client takes it."""

import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway_core.contracts.errors import GatewayError

from .ranges import Span, has_tag, wanted
from .record import FileRecord
from .threads import run

PIECE = 64 * 1024
"""Bytes that are read, and held for a slow client."""
BINARY = "application/octet-stream"


class ContentChanged(GatewayError):
    """The condition of the request does not hold."""

    status = 412
    type = "invalid_request_error"
    code = "precondition_failed"


async def content_answer(request: Request, record: FileRecord, path: Path) -> Response:
    """The answer to GET or HEAD. Raises Unsatisfiable, ContentChanged, FileNotFoundError."""
    # The content of an id never changes, so the id is a strong tag of it.
    tag = f'"{record.id}"'
    headers = {
        "accept-ranges": "bytes",
        "etag": tag,
        # The content is a client's: no browser is to show it as a page of this origin.
        "content-disposition": f"attachment; filename*=UTF-8''{quote(record.filename, safe='')}",
    }
    if_match = request.headers.get("if-match")
    if if_match is not None and not has_tag(if_match, tag):
        raise ContentChanged("The file is not the one that If-Match names")
    if has_tag(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    descriptor = await run(partial(os.open, path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    try:
        size = os.fstat(descriptor).st_size
        # Section 14.2: a range counts for GET only.
        if request.method == "HEAD":
            headers["content-length"] = str(size)
            return Response(headers=headers, media_type=BINARY)
        asked, if_range = request.headers.get("range"), request.headers.get("if-range")
        span = wanted(asked, if_range, tag, size)
        response = Download(descriptor, span, size, headers)
    except BaseException:
        os.close(descriptor)
        raise
    return response


class Download(StreamingResponse):
    """Owns the descriptor that it reads from."""

    def __init__(
        self, descriptor: int, span: Span | None, size: int, headers: dict[str, str]
    ) -> None:
        begin, end = span or Span(0, size)
        headers["content-length"] = str(end - begin)
        if span is not None:
            headers["content-range"] = f"bytes {begin}-{end - 1}/{size}"
        self._descriptor = descriptor
        self._source = _pieces(descriptor, Span(begin, end))
        super().__init__(self._source, 206 if span else 200, headers, BINARY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(ClientDisconnect):
                await super().__call__(scope, receive, send)
        finally:
            await self._source.aclose()
            os.close(self._descriptor)


async def _pieces(descriptor: int, span: Span) -> AsyncGenerator[bytes, None]:
    begin, end = span
    while begin < end:
        piece = await run(partial(os.pread, descriptor, min(PIECE, end - begin), begin))
        if not piece:
            raise RuntimeError("the content of a file is shorter than it was")
        begin += len(piece)
        yield piece
