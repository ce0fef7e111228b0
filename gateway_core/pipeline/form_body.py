"""Reads a multipart body (RFC 7578) as it arrives. Long parts go to temporary files, so that a body
is never in memory as a whole."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar

import msgspec
from msgspec import Raw
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ..contracts.asgi import Receive
from ..contracts.errors import BadRequest, BodyTooLarge, Unavailable, UnsupportedMedia
from ..contracts.exchange import FileContent
from ..contracts.provider import FormPart
from .client_response import ClientGone

SPOOL_ABOVE = 1024 * 1024
"""A longer part goes to a file; a longer plain field is refused."""
MOST_PARTS = 64
MOST_HEADERS = 8
LONGEST_HEADER = 8 * 1024
LONGEST_BOUNDARY = 200
LONGEST_PREAMBLE = 4 * 1024
LONGEST_NAME = 255
"""Of a file, bytes."""
FORM = "multipart/form-data"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_encode = msgspec.json.Encoder().encode
T = TypeVar("T")


class PartFile(FileContent, Protocol):
    """Where a part is written while it arrives."""

    def write(self, data: bytes) -> None:
        """Raises OSError, as for a full disk."""
        ...

    def close(self) -> None: ...


OpenFile = Callable[[], PartFile]


class Form:
    """The parts of a body. ``close`` removes their files."""

    def __init__(self, open_file: OpenFile) -> None:
        self.parts: list[FormPart] = []
        self._open = open_file
        self._files: list[PartFile] = []

    def open_file(self) -> PartFile:
        """A file that is closed with the form. Raises Unavailable."""
        file = stored(self._open)
        self._files.append(file)
        return file

    @property
    def members(self) -> Mapping[str, Raw]:
        """The plain fields as JSON strings; of a repeated one the last."""
        return {
            part.name: Raw(_encode(part.content.decode("utf-8", "replace")))
            for part in self.parts
            if part.filename is None and isinstance(part.content, bytes)
        }

    def require(self, names: Iterable[str]) -> None:
        """Raises BadRequest for a file that is missing."""
        files = {part.name for part in self.parts if part.filename is not None}
        for name in names:
            if name not in files:
                raise BadRequest(f"Missing required field: {name}", param=name)

    def close(self) -> None:
        for file in self._files:
            file.close()
        self._files.clear()


async def read_form(
    receive: Receive, headers: Mapping[str, str], limit: int, open_file: OpenFile
) -> Form:
    """The whole form. Raises BadRequest, BodyTooLarge, ClientGone, UnsupportedMedia, and leaves
    nothing behind then."""
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise too_large(limit)
    form = Form(open_file)
    try:
        reader = FormReader(form, boundary_of(headers))
        size, is_more = 0, True
        while is_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > limit:
                raise too_large(limit)
            reader.feed(piece)
            is_more = message.get("more_body", False)
        reader.close()
    except BaseException:
        form.close()
        raise
    return form


def is_form(headers: Mapping[str, str]) -> bool:
    """Whether the content type is that of a form."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == FORM


def boundary_of(headers: Mapping[str, str]) -> bytes:
    """Raises BadRequest, UnsupportedMedia."""
    if not is_form(headers):
        raise UnsupportedMedia(f"Content-Type must be {FORM}")
    if headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("A form may not be compressed")
    boundary = parse_options_header(headers["content-type"])[1].get(b"boundary", b"")
    if not 0 < len(boundary) <= LONGEST_BOUNDARY:
        raise BadRequest("The form's boundary is missing or too long")
    return boundary


def too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The request body is larger than {limit} bytes")


def stored(work: Callable[[], T]) -> T:
    """Raises Unavailable where a part cannot be written to its file."""
    try:
        return work()
    except OSError as error:
        raise Unavailable("The upload could not be stored") from error


class FormReader:
    """Turns the events of the parser into parts."""

    def __init__(
        self,
        form: Form,
        boundary: bytes,
        *,
        spool_above: int = SPOOL_ABOVE,
        longest_field: int = SPOOL_ABOVE,
    ) -> None:
        """A file's part longer than ``spool_above`` goes to a file; a plain field longer than
        ``longest_field`` is refused."""
        self._form = form
        self._spool_above, self._longest_field = spool_above, longest_field
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._name, self._filename = "", ""
        self._is_file = False
        self._media_type: str | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._file: PartFile | None = None
        self._preamble = 0
        self._has_begun = self._is_whole = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_part_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
            max_header_count=MOST_HEADERS,
            max_header_size=LONGEST_HEADER,
        )

    def feed(self, piece: bytes) -> None:
        """More of the body. Raises BadRequest, BodyTooLarge, Unavailable."""
        if self._is_whole:
            return  # RFC 2046, section 5.1.1: what follows the last boundary is ignored.
        try:
            self._parser.write(piece)
        except FormParserError:
            raise BadRequest("The request body is not valid multipart/form-data") from None
        if not self._has_begun:
            self._preamble += len(piece)
            if self._preamble > LONGEST_PREAMBLE:
                raise BadRequest("The request body is not valid multipart/form-data")

    def close(self) -> None:
        """The body has ended. Raises BadRequest where the form has not."""
        if not self._is_whole:
            raise BadRequest("The form ends without its last boundary")

    # What follows is called by the parser.

    def _on_part_begin(self) -> None:
        self._has_begun = True
        if len(self._form.parts) >= MOST_PARTS:
            raise BadRequest(f"A form may have at most {MOST_PARTS} parts")
        self._headers = {}
        self._pieces, self._size, self._file = [], 0, None

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _on_headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name")
        if kind != b"form-data" or not name:
            raise BadRequest("A part of the form has no name")
        self._name = name.decode("utf-8", "replace")
        filename = options.get(b"filename")
        self._is_file = filename is not None
        self._filename = plain_name((filename or b"").decode("utf-8", "replace"))
        media_type = self._headers.get(b"content-type")
        self._media_type = None
        if media_type is not None:
            self._media_type = _CONTROL.sub("", media_type.decode("latin-1"))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        piece = data[start:end]
        self._size += len(piece)
        if self._file is not None:
            file = self._file
            stored(lambda: file.write(piece))
            return
        self._pieces.append(piece)
        if self._size > (self._spool_above if self._is_file else self._longest_field):
            if not self._is_file:
                raise too_large(self._longest_field)
            file = self._file = self._form.open_file()
            held = b"".join(self._pieces)
            stored(lambda: file.write(held))
            self._pieces.clear()

    def _on_part_end(self) -> None:
        part = FormPart(
            name=self._name,
            content=b"".join(self._pieces) if self._file is None else self._file,
            filename=self._filename if self._is_file else None,
            media_type=self._media_type,
        )
        # The two readers of a repeated field could take different ones (see security rule on
        # repeated members of JSON).
        if part.name.lower() == "model" and part.name.lower() in self._names():
            raise BadRequest("The form names its model twice", param="model")
        self._form.parts.append(part)

    def _names(self) -> set[str]:
        return {part.name.lower() for part in self._form.parts}

    def _on_end(self) -> None:
        self._is_whole = True


def plain_name(name: str) -> str:
    """A file's name without folders and control characters. It is never used as a path."""
    last = _CONTROL.sub("", name.replace("\\", "/").rpartition("/")[2])
    return last.encode()[:LONGEST_NAME].decode("utf-8", "ignore")
