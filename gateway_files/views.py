"""Files as clients see them: in the completions style, or in the messages style for a client that
sends that format's version header, as for the list of models (9.3)."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request

from gateway_core.http.models import VERSION_HEADER
from gateway_core.storage.moments import iso

from .content import BINARY
from .record import FileRecord
from .store import Page


class FileView(Struct, frozen=True, kw_only=True):
    """Times are in Unix seconds."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: str
    expires_at: int | UnsetType = UNSET


class MessagesFileView(Struct, frozen=True, kw_only=True):
    """Times are UTC ISO text."""

    id: str
    type: Literal["file"] = "file"
    filename: str
    mime_type: str = BINARY
    size_bytes: int
    created_at: str
    downloadable: bool = True
    expires_at: str | None


class FileList(Struct, frozen=True, kw_only=True):
    object: Literal["list"] = "list"
    data: list[FileView]
    first_id: str | None
    last_id: str | None
    has_more: bool


class MessagesFileList(Struct, frozen=True, kw_only=True):
    data: list[MessagesFileView]
    first_id: str | None
    last_id: str | None
    has_more: bool
    next_page: str | None


class FileDeleted(Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["file"] = "file"
    deleted: bool = True


class MessagesFileDeleted(Struct, frozen=True, kw_only=True):
    id: str
    type: Literal["file_deleted"] = "file_deleted"


def show_file(request: Request, record: FileRecord) -> FileView | MessagesFileView:
    return _messages_file(record) if _is_messages(request) else _file(record)


def show_list(request: Request, page: Page) -> FileList | MessagesFileList:
    records, has_more = page
    first, last = (records[0].id, records[-1].id) if records else (None, None)
    if _is_messages(request):
        return MessagesFileList(
            data=[_messages_file(record) for record in records],
            first_id=first,
            last_id=last,
            has_more=has_more,
            next_page=last if has_more else None,
        )
    data = [_file(record) for record in records]
    return FileList(data=data, first_id=first, last_id=last, has_more=has_more)


def show_deleted(request: Request, id: str) -> FileDeleted | MessagesFileDeleted:
    return MessagesFileDeleted(id=id) if _is_messages(request) else FileDeleted(id=id)


def _is_messages(request: Request) -> bool:
    return VERSION_HEADER in request.headers


def _file(record: FileRecord) -> FileView:
    return FileView(
        id=record.id,
        bytes=record.bytes,
        created_at=record.created_at,
        filename=record.filename,
        purpose=record.purpose,
        expires_at=UNSET if record.expires_at is None else record.expires_at,
    )


def _messages_file(record: FileRecord) -> MessagesFileView:
    return MessagesFileView(
        id=record.id,
        filename=record.filename,
        size_bytes=record.bytes,
        created_at=iso(record.created_at),
        expires_at=None if record.expires_at is None else iso(record.expires_at),
    )
