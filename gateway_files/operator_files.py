"""``/api/files``: the files of all owners, what they take, and removing them."""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.moments import iso

from .content import BINARY, content_answer
from .ids import check_id
from .kept_elsewhere import AnyStore
from .limits import limits_of, store_of
from .operator_route import audit, operator_route, owner_names, read_query
from .record import FileRecord
from .routes import missing
from .threads import run

PATH = "/api/files"
Word = Annotated[str, Meta(max_length=200)]


class FilesQuery(Struct, frozen=True, kw_only=True):
    search: Word = ""
    """Part of a name or an id."""
    owner: Word = ""
    """The id of a key, or ``local``."""
    purpose: Word = ""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class StoredFile(Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    filename: str
    purpose: str
    bytes: int
    created_at: str
    expires_at: str | None
    owner: str
    """The id of a key; ``local`` for all callers without one."""
    owner_name: str | None
    """The key's name; ``null`` for ``local``, and for a key that is gone."""


class StoredFiles(Struct, frozen=True, kw_only=True):
    """Newest first. ``total`` and ``bytes`` count the files of all pages."""

    rows: tuple[StoredFile, ...]
    total: int
    bytes: int
    limit: int
    offset: int


class OwnerUsage(Struct, frozen=True, kw_only=True, rename="camel"):
    owner: str
    owner_name: str | None
    bytes: int
    files: int


class FileUsage(Struct, frozen=True, kw_only=True, rename="camel"):
    """What owners have, the largest first, and what each of them may have."""

    owners: tuple[OwnerUsage, ...]
    purposes: tuple[str, ...]
    """Those that there are files of."""
    bytes: int
    files: int
    largest_file: int
    """Bytes of one file."""
    quota: int
    """Bytes of all files of an owner."""
    most_files: int
    """Files of an owner."""


class FileRemoved(Struct, frozen=True):
    success: bool = True


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""
    files = OperatorFiles(core)
    one = PATH + "/{id}"
    return [
        operator_route(
            *(PATH, files.show_list, "list the files of all keys"),
            query=FilesQuery,
            answer=StoredFiles,
        ),
        operator_route(
            f"{PATH}/usage", files.show_usage, "sum up the files of all keys", answer=FileUsage
        ),
        operator_route(one, files.delete, "delete a key's file", "DELETE", answer=FileRemoved),
        operator_route(f"{one}/content", files.content, "download a key's file", media=BINARY),
    ]


class OperatorFiles:
    """Answers from the store, whoever owns a file."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    @cached_property
    def _store(self) -> AnyStore:
        return store_of(self._core)

    async def show_list(self, request: Request) -> Response:
        query = read_query(request, FilesQuery)
        names = await owner_names(self._core)
        found = [each for each in await run(self._store.all) if _matches(each, query)]
        page = found[query.offset : query.offset + query.limit]
        return json_answer(
            StoredFiles(
                rows=tuple(_row(each, names) for each in page),
                total=len(found),
                bytes=sum(each.bytes for each in found),
                limit=query.limit,
                offset=query.offset,
            )
        )

    async def show_usage(self, request: Request) -> Response:
        names, used = await owner_names(self._core), await run(self._store.usages)
        purposes = {each.purpose for each in await run(self._store.all)}
        limits = limits_of(self._core)
        owners = [
            OwnerUsage(owner=id, owner_name=names.get(id), bytes=each.bytes, files=each.files)
            for id, each in sorted(used.items(), key=lambda item: (-item[1].bytes, item[0]))
        ]
        return json_answer(
            FileUsage(
                owners=tuple(owners),
                purposes=tuple(sorted(purposes)),
                bytes=sum(each.bytes for each in owners),
                files=sum(each.files for each in owners),
                largest_file=limits.largest,
                quota=limits.quota,
                most_files=limits.most,
            )
        )

    async def delete(self, request: Request) -> Response:
        record = await self._find(request)
        detail = {"name": record.filename, "owner": record.owner, "bytes": record.bytes}
        await audit(self._core, request, "file.delete", record.id, detail)
        if not await run(partial(self._store.delete, record.owner, record.id)):
            raise missing(record.id)
        return json_answer(FileRemoved())

    async def content(self, request: Request) -> Response:
        record = await self._find(request)
        # Another one's file is opened: that is to be seen afterwards.
        detail = {"name": record.filename, "owner": record.owner}
        await audit(self._core, request, "file.download", record.id, detail)
        try:
            return await content_answer(request, record, self._store.open)
        except FileNotFoundError:  # Deleted in between.
            raise missing(record.id) from None

    async def _find(self, request: Request) -> FileRecord:
        """Raises BadRequest, NotFound."""
        id = check_id(request.path_params["id"])
        record = await run(partial(self._store.get, id))
        if record is None:
            raise missing(id)
        return record


def _matches(record: FileRecord, query: FilesQuery) -> bool:
    term = query.search.strip().casefold()
    return (
        query.owner in ("", record.owner)
        and query.purpose in ("", record.purpose)
        and (term in record.filename.casefold() or term in record.id)
    )


def _row(record: FileRecord, names: Mapping[str, str]) -> StoredFile:
    return StoredFile(
        id=record.id,
        filename=record.filename,
        purpose=record.purpose,
        bytes=record.bytes,
        created_at=iso(record.created_at),
        expires_at=None if record.expires_at is None else iso(record.expires_at),
        owner=record.owner,
        owner_name=names.get(record.owner),
    )
