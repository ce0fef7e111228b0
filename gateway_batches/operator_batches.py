"""``/api/batches``: the batches of all owners, how far they are, and ending them."""

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gateway_core.contracts.errors import Conflict, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.moments import iso
from gateway_files.ids import check_id
from gateway_files.operator_route import audit, operator_route, owner_names, read_query

from .batch import Batch, BatchError, Status, Surface
from .batches import Batches, batches_of
from .message_routes import NDJSON, result_pieces
from .store import BatchFilter

PATH = "/api/batches"


class BatchesQuery(Struct, frozen=True, kw_only=True):
    owner: Annotated[str, Meta(max_length=200)] = ""
    """The id of a key, or ``local``."""
    surface: Surface | Literal[""] = ""
    status: Status | Literal["open", ""] = ""
    """``open`` stands for all that are not over."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class StoredBatch(Struct, frozen=True, kw_only=True, rename="camel"):
    """``total`` is ``null`` until the input was checked; rows have an answer (``completed``), have
    none for good (``failed``), or are still to come."""

    id: str
    surface: Surface
    owner: str
    """The id of a key; ``local`` for all callers without one."""
    owner_name: str | None
    """The key's name; ``null`` for ``local``, and for a key that is gone."""
    endpoint: str
    status: Status
    total: int | None
    completed: int
    failed: int
    created_at: str
    started_at: str | None
    """When its first row began."""
    ended_at: str | None
    expires_at: str
    """When what is left of it is given up."""
    input_file_id: str | None
    output_file_id: str | None
    error_file_id: str | None
    has_results: bool
    """Its results are no file, and are fetched from the batch."""


class StoredBatches(Struct, frozen=True, kw_only=True):
    """Newest first. ``total`` counts the batches of all pages."""

    rows: tuple[StoredBatch, ...]
    total: int
    limit: int
    offset: int


class BatchDetail(StoredBatch, frozen=True, kw_only=True, rename="camel"):
    errors: tuple[BatchError, ...]
    """What is wrong with its input, or why it failed."""
    metadata: Mapping[str, Any]
    under_way: int
    """Rows that were begun and have no answer yet."""


class BatchRemoved(Struct, frozen=True):
    success: bool = True


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""
    batches = OperatorBatches(core)
    one = PATH + "/{id}"
    return [
        operator_route(
            *(PATH, batches.show_list, "list the batches of all keys"),
            query=BatchesQuery,
            answer=StoredBatches,
        ),
        operator_route(one, batches.show, "describe a key's batch", answer=BatchDetail),
        operator_route(
            *(f"{one}/cancel", batches.cancel, "cancel a key's batch", "POST"), answer=BatchDetail
        ),
        operator_route(one, batches.delete, "delete a key's batch", "DELETE", answer=BatchRemoved),
        operator_route(
            f"{one}/results", batches.results, "download the results of a batch", media=NDJSON
        ),
    ]


class OperatorBatches:
    """Answers for the batches of every owner."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    @cached_property
    def _batches(self) -> Batches:
        return batches_of(self._core)

    async def show_list(self, request: Request) -> Response:
        query = read_query(request, BatchesQuery)
        which = BatchFilter(owner=query.owner, surface=query.surface, status=query.status)
        limit, offset = query.limit, query.offset
        found, total = await self._batches.store.listed(which, limit=limit, offset=offset)
        names = await owner_names(self._core)
        rows = tuple(StoredBatch(**_fields(each, names)) for each in found)
        return json_answer(StoredBatches(rows=rows, total=total, limit=limit, offset=offset))

    async def show(self, request: Request) -> Response:
        return json_answer(await self._detail(await self._find(request)))

    async def cancel(self, request: Request) -> Response:
        """The answer does not wait for the rows under way: their batch is ``cancelling`` then."""
        batch = await self._find(request)
        if batch.is_over or batch.status == "finalizing":
            raise Conflict(f"The batch is {batch.status}: there is nothing left to cancel")
        await audit(self._core, request, "batch.cancel", batch.id, {"owner": batch.owner})
        await self._batches.store.cancel(batch.id, self._core.clock())
        self._batches.scheduler.wake(batch.id)
        return json_answer(await self._detail(await self._find(request)))

    async def delete(self, request: Request) -> Response:
        """Its files stay, which are its owner's."""
        batch = await self._find(request)
        if not batch.is_over:
            raise Conflict(f"The batch is {batch.status}: cancel it first")
        await audit(self._core, request, "batch.delete", batch.id, {"owner": batch.owner})
        if not await self._batches.store.remove(batch.id):
            raise _missing(batch.id)
        await asyncio.to_thread(self._batches.folder(batch.id).remove)
        return json_answer(BatchRemoved())

    async def results(self, request: Request) -> Response:
        batch = await self._find(request)
        if batch.surface != "messages":
            raise Conflict("The results of this batch are files")
        if not batch.is_over:
            raise Conflict("The batch has not ended; its results are not available yet")
        if not await asyncio.to_thread(self._batches.folder(batch.id).is_here):
            raise NotFound(f"The results of {batch.id} are no longer here", param="id")
        await audit(self._core, request, "batch.results", batch.id, {"owner": batch.owner})
        name = f'attachment; filename="{batch.id}-results.jsonl"'
        headers = {**NO_STORE, "content-disposition": name}
        pieces = await result_pieces(self._batches, batch.id)
        return StreamingResponse(pieces, headers=headers, media_type=NDJSON)

    async def _find(self, request: Request) -> Batch:
        """Raises BadRequest, NotFound."""
        id = check_id(request.path_params["id"])
        batch = await self._batches.store.get(id)
        if batch is None:
            raise _missing(id)
        return batch

    async def _detail(self, batch: Batch) -> BatchDetail:
        return BatchDetail(
            **_fields(batch, await owner_names(self._core)),
            errors=batch.errors,
            metadata=batch.metadata or {},
            under_way=len(await self._batches.store.rows(batch.id)),
        )


def _missing(id: str) -> NotFound:
    return NotFound(f"No such batch: {id}", param="id")


def _fields(batch: Batch, names: Mapping[str, str]) -> dict[str, Any]:
    """What a list shows of a batch."""
    ends = (batch.completed_at, batch.failed_at, batch.expired_at, batch.cancelled_at)
    ended = next((at for at in ends if at is not None), None) if batch.is_over else None
    return {
        "id": batch.id,
        "surface": batch.surface,
        "owner": batch.owner,
        "owner_name": names.get(batch.owner),
        "endpoint": batch.endpoint,
        "status": batch.status,
        "total": batch.total,
        "completed": batch.completed,
        "failed": batch.failed,
        "created_at": iso(batch.created_at),
        "started_at": None if batch.in_progress_at is None else iso(batch.in_progress_at),
        "ended_at": None if ended is None else iso(ended),
        "expires_at": iso(batch.expires_at),
        "input_file_id": batch.input_file_id,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
        "has_results": batch.surface == "messages" and batch.is_over,
    }
