"""Sends the content of a file, or a part of it, as fast as the client takes it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway_core.contracts.errors import GatewayError
from gateway_core.contracts.file_contents import ContentReader

from .ranges import Span, has_tag, wanted
from .record import FileRecord
from .threads import run, run_whole

PIECE = 64 * 1024
"""Bytes that are read, and held for a slow client."""
BINARY = "application/octet-stream"
Open = Callable[[FileRecord, Span], ContentReader]


class ContentChanged(GatewayError):
    """The condition of the request does not hold."""

    status = 412
    type = "invalid_request_error"
    code = "precondition_failed"


async def content_answer(request: Request, record: FileRecord, open_part: Open) -> Response:
    """The answer to GET or HEAD. Raises Unsatisfiable, ContentChanged, OSError and, for one that is
    deleted meanwhile, FileNotFoundError. ``open_part`` blocks."""
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
    # Section 14.2: a range counts for GET only.
    if request.method == "HEAD":
        headers["content-length"] = str(record.bytes)
        return Response(headers=headers, media_type=BINARY)
    asked, if_range = request.headers.get("range"), request.headers.get("if-range")
    span = wanted(asked, if_range, tag, record.bytes)
    whole = Span(0, record.bytes)
    reader = await run(partial(open_part, record, span or whole))
    return Download(reader, span, record.bytes, headers)


class Download(StreamingResponse):
    """Owns the reader of a content."""

    def __init__(
        self, reader: ContentReader, span: Span | None, size: int, headers: dict[str, str]
    ) -> None:
        begin, end = span or Span(0, size)
        headers["content-length"] = str(end - begin)
        if span is not None:
            headers["content-range"] = f"bytes {begin}-{end - 1}/{size}"
        self._reader = reader
        self._source = _pieces(reader, end - begin)
        super().__init__(self._source, 206 if span else 200, headers, BINARY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(ClientDisconnect):
                await super().__call__(scope, receive, send)
        finally:
            await self._source.aclose()
            self._reader.close()


async def _pieces(reader: ContentReader, left: int) -> AsyncGenerator[bytes, None]:
    while left:
        piece = await run_whole(partial(reader.read, PIECE))
        if not piece:
            raise RuntimeError("the content of a file is shorter than it was")
        left -= len(piece)
        yield piece
