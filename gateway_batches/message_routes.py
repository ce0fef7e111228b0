"""``/v1/messages/batches``: batches of the messages style, whose requests come with them (4.8)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial

from msgspec import Raw, Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gateway_core.contracts.errors import BadRequest, GatewayError
from gateway_core.http.models import probed
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.identity.credentials import own_origin
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.error_bodies import write_error
from gateway_files.limits import store_of

from .batch import Batch
from .batch_file import INPUT, BatchFile
from .batches import Batches
from .folder import PIECE
from .input_rows import LONGEST_ID, add_id, write_rows
from .output_lines import read_line, result_line
from .surface import PageQuery, SurfaceRoutes, read_json
from .views import MessageBatchList, MessageBatchView, message_batch_view

PATH = "/v1/messages/batches"
ENDPOINT = "/v1/messages"
NDJSON = "application/x-ndjson"
MOST_LISTED = 1000
HEAD = ("GET", "HEAD")


class MessageRequest(Struct, frozen=True):
    """One request; ``params`` is the body of a call to messages."""

    custom_id: str
    params: Raw


class MessageBatchBody(Struct, frozen=True):
    requests: list[MessageRequest]


_EXAMPLE = {
    "requests": [
        {
            "custom_id": "1",
            "params": {
                "model": "echo/echo",
                "max_tokens": 9,
                "messages": [{"role": "user", "content": "Hi"}],
            },
        }
    ]
}


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""
    batches = MessageBatches(core, "messages", MOST_LISTED)
    one = f"{PATH}/{{id}}"
    return [
        batches.route(
            *(PATH, batches.show_list, "list the message batches", HEAD),
            query=PageQuery,
            answer=MessageBatchList,
        ),
        batches.route(
            *(PATH, batches.create, "create a message batch", ("POST",)),
            body=MessageBatchBody,
            answer=MessageBatchView,
            example=_EXAMPLE,
        ),
        batches.route(one, batches.show, "describe a message batch", answer=MessageBatchView),
        batches.route(
            f"{one}/results", batches.results, "fetch the results of a message batch", media=NDJSON
        ),
        batches.route(
            *(f"{one}/cancel", batches.stop, "cancel a message batch", ("POST",)),
            answer=MessageBatchView,
        ),
    ]


class MessageBatches(SurfaceRoutes):
    """Answers of the messages style."""

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(self.batches.calls.route(ENDPOINT).wire, error, request_id)

    async def show_list(self, request: Request, owner: str) -> Response:
        if request.method == "HEAD":
            return probed()
        found, has_more = await self.page(request, owner)
        views = [self._view(request, batch) for batch in found]
        return json_answer(
            MessageBatchList(
                data=views,
                has_more=has_more,
                first_id=views[0].id if views else None,
                last_id=views[-1].id if views else None,
            )
        )

    async def create(self, request: Request, owner: str) -> Response:
        await self.check_room(owner)
        memory, reserved = self.core.body_memory, 0.0

        def reserve(size: int) -> None:
            nonlocal reserved
            reserved = memory.grow(reserved, size)

        try:
            body = await read_json(request, MessageBatchBody, self.core.max_body, reserve)
            batch = self.new_batch(request, owner, ENDPOINT)
            batch = await asyncio.to_thread(self._with_input, batch, body.requests)
        finally:
            memory.release(reserved)
        await self.store(batch)
        return json_answer(self._view(request, batch))

    def _with_input(self, batch: Batch, requests: list[MessageRequest]) -> Batch:
        """The batch with its requests, kept as a file of its owner. Raises BadRequest,
        FileTooLarge, QuotaExceeded."""
        if not requests:
            raise BadRequest("requests must not be empty", param="requests")
        files, folder = store_of(self.core), self.batches.folder(batch.id)
        file, record = BatchFile(files, batch, INPUT, "input"), None
        try:
            folder.make()
            for line in write_rows(_checked(requests), batch.endpoint):
                file.write(line)
            record = file.finish()
            assert record is not None
            folder.take_input(partial(files.copy, record))
        except BaseException:
            folder.remove()
            file.abandon()
            if record is not None:
                files.delete(batch.owner, record.id)
            raise
        return replace(batch, input_file_id=record.id, total=len(requests))

    async def show(self, request: Request, owner: str) -> Response:
        return json_answer(self._view(request, await self.find(request, owner)))

    async def stop(self, request: Request, owner: str) -> Response:
        return json_answer(self._view(request, await self.cancel(request, owner)))

    async def results(self, request: Request, owner: str) -> Response:
        """One line for each request."""
        batch = await self.find(request, owner)
        if not batch.is_over:
            raise BadRequest("The batch has not ended; its results are not available yet")
        pieces = await result_pieces(self.batches, batch.id)
        return StreamingResponse(pieces, headers=NO_STORE, media_type=NDJSON)

    def _view(self, request: Request, batch: Batch) -> MessageBatchView:
        public = self.core.identity.public_origin
        origin = own_origin(request.scope, headers_of(request.scope), public)
        return message_batch_view(batch, origin)


def _checked(requests: list[MessageRequest]) -> Iterator[tuple[str, Raw]]:
    """Raises BadRequest for the first request that is not one."""
    seen = set[bytes]()
    for place, each in enumerate(requests):
        where = f"requests.{place}"
        if not 0 < len(each.custom_id) <= LONGEST_ID:
            raise BadRequest(f"{where}.custom_id must have 1 to {LONGEST_ID} characters")
        if not bytes(each.params).lstrip().startswith(b"{"):
            raise BadRequest(f"{where}.params must be an object")
        try:
            add_id(seen, each.custom_id)
        except ValueError as error:
            raise BadRequest(f"{where}.custom_id: {error}") from None
        yield each.custom_id, each.params


async def result_pieces(batches: Batches, batch_id: str) -> AsyncIterator[bytes]:
    """The results of a batch of messages, as they are sent."""
    parts = await batches.store.parts(batch_id)
    lengths = [(part.generation, part.length) for part in parts]
    return _pieces(batches.folder(batch_id).settled(lengths))


async def _pieces(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The results in pieces, which are read in a thread."""
    while piece := await asyncio.to_thread(_next_piece, lines):
        yield piece


def _next_piece(lines: Iterator[bytes]) -> bytes:
    piece = bytearray()
    for line in lines:
        piece += result_line(read_line(line))
        if len(piece) >= PIECE:
            break
    return bytes(piece)
