"""Takes the form of an upload, and writes its file to disk while it arrives."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from gateway_core.contracts.asgi import Receive
from gateway_core.contracts.errors import BadRequest, LimitExceeded
from gateway_core.contracts.provider import FormPart
from gateway_core.pipeline.client_response import ClientGone
from gateway_core.pipeline.form_body import Form, FormReader, boundary_of

from .errors import FileTooLarge
from .kept_elsewhere import AnyStore, AnyWriter
from .record import FileRecord
from .threads import run_whole

FILE = "file"
PURPOSE = "batch"
"""Of a file that names none."""
AT_ONCE = 256 * 1024
"""Bytes that are gathered before they are written."""
AROUND = 1024 * 1024
"""Bytes that a body may have besides the file."""
LONGEST_FIELD = 4 * 1024
MOST_UPLOADS = 32
"""Of one owner at a time."""
_is_purpose = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII).fullmatch
ANCHOR, SECONDS = "expires_after[anchor]", "expires_after[seconds]"
LEAST_SECONDS, MOST_SECONDS = 3600, 30 * 24 * 3600
"""As in https://platform.openai.com/docs/api-reference/files/create."""
_KNOWN = frozenset({FILE, "purpose", ANCHOR, SECONDS})


class Uploaded(Struct, frozen=True):
    record: FileRecord
    ignored: tuple[str, ...]
    """Fields of the form that have no meaning here."""


class Uploads:
    """Takes uploads, a few of each owner at a time."""

    def __init__(self, store: AnyStore) -> None:
        self._store = store
        self._running: Counter[str] = Counter()

    async def take(
        self, owner: str, headers: Mapping[str, str], receive: Receive, largest: int
    ) -> Uploaded:
        """The stored file. ``largest`` is in bytes. Leaves nothing behind when it raises:
        BadRequest, BodyTooLarge, UnsupportedMedia, QuotaExceeded, LimitExceeded, ClientGone,
        Unavailable."""
        boundary = boundary_of(headers)
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > largest + AROUND:
            raise FileTooLarge(largest)
        target = OneFile(self._store, owner)
        form = Form(target.open)
        with self._counted(owner):
            try:
                reader = FormReader(form, boundary, spool_above=0, longest_field=LONGEST_FIELD)
                await _read(reader, receive, largest)
                return await run_whole(partial(_keep, form, target))
            finally:
                await run_whole(form.close)

    @contextmanager
    def _counted(self, owner: str) -> Iterator[None]:
        if self._running[owner] >= MOST_UPLOADS:
            raise LimitExceeded(f"At most {MOST_UPLOADS} uploads at a time", retry_after=1)
        self._running[owner] += 1
        try:
            yield
        finally:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]


class OneFile:
    """Opens the file of a form, once."""

    def __init__(self, store: AnyStore, owner: str) -> None:
        self._store, self._owner = store, owner
        self._has_opened = False

    def open(self) -> AnyWriter:
        """Raises BadRequest for the second one, QuotaExceeded, OSError."""
        if self._has_opened:
            raise BadRequest("A form may have one file only", param=FILE)
        self._has_opened = True
        # The fields that describe it may come behind it.
        return self._store.create(self._owner, "", "")


async def _read(reader: FormReader, receive: Receive, largest: int) -> None:
    size, gathered, is_more = 0, bytearray(), True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        gathered += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(gathered) >= AT_ONCE or not is_more:
            size += len(gathered)
            if size > largest + AROUND:
                raise FileTooLarge(largest)
            piece = bytes(gathered)
            gathered.clear()
            await run_whole(partial(reader.feed, piece))
    reader.close()


def _keep(form: Form, target: OneFile) -> Uploaded:
    """Complete the file with what the fields say of it."""
    files = [part for part in form.parts if part.filename is not None]
    if [part.name for part in files] != [FILE]:
        form.require((FILE,))
        raise BadRequest("A form may have one file only", param=FILE)
    fields = _fields(form.parts)
    purpose = fields.get("purpose") or PURPOSE
    if _is_purpose(purpose) is None:
        raise BadRequest("Invalid purpose", param="purpose")
    expires_after = _expiry(fields)
    content = files[0].content
    # An empty part has not been opened.
    writer = content if isinstance(content, AnyWriter) else form.open_file()
    assert isinstance(writer, AnyWriter)
    writer.describe(files[0].filename or FILE, purpose, expires_after)
    ignored = tuple(sorted(fields.keys() - _KNOWN))
    return Uploaded(writer.finish(), ignored)


def _fields(parts: list[FormPart]) -> dict[str, str]:
    """The plain fields; of a repeated one the last."""
    return {
        part.name: part.content.decode("utf-8", "replace").strip()
        for part in parts
        if part.filename is None and isinstance(part.content, bytes)
    }


def _expiry(fields: Mapping[str, str]) -> int | None:
    """Seconds after which the file is to be deleted. Raises BadRequest."""
    if ANCHOR not in fields and SECONDS not in fields:
        return None
    if fields.get(ANCHOR) != "created_at":
        raise BadRequest("The anchor of expires_after must be created_at", param=ANCHOR)
    text = fields.get(SECONDS, "")
    seconds = int(text) if text.isascii() and text.isdecimal() else 0
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise BadRequest(
            f"The seconds of expires_after must be {LEAST_SECONDS} to {MOST_SECONDS}",
            param=SECONDS,
        )
    return seconds
