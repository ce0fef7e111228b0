"""What the routes of both surfaces have in common: the caller, errors in the surface's words, the
owner's batches."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property
from math import ceil
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import (
    BadRequest,
    GatewayError,
    LimitExceeded,
    NotFound,
    Unavailable,
    UnsupportedMedia,
)
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import NO_STORE
from gateway_core.identity.access import Access
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER, check_key
from gateway_core.pipeline.client_response import ClientGone, headers_of
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.error_bodies import service_error
from gateway_core.pipeline.request_body import Reserve, decode, unlimited, whole_body
from gateway_core.pipeline.request_head import is_json
from gateway_files.client_routes import owner_of
from gateway_files.ids import check_id

from .batch import PREFIXES, WINDOW, Batch, BatchError, Surface
from .batches import Batches, batches_of, settings_of
from .row_call import row_headers

CLIENT_GONE = 499
CANCEL_WAIT = 300.0
"""Seconds for which a request to cancel waits for the rows under way."""
LOOK_EVERY = 0.1
RETRY_AFTER = 60.0
"""Seconds, for an owner with too many batches."""
log = logging.getLogger(__name__)
T = TypeVar("T")
Handler = Callable[[Request, str], Awaitable[Response]]
"""Takes the owner, too."""


class PageQuery(Struct, frozen=True, kw_only=True):
    """Newest first. ``after`` and ``after_id`` are the same."""

    limit: int | None = None
    after: str | None = None
    after_id: str | None = None
    before_id: str | None = None


class SurfaceRoutes:
    """The routes of one surface."""

    def __init__(self, core: Collaborators, surface: Surface, most_listed: int) -> None:
        """``most_listed`` is the longest page of a list. Reads nothing from ``core``."""
        self.core, self.surface, self.most_listed = core, surface, most_listed

    @cached_property
    def batches(self) -> Batches:
        return batches_of(self.core)

    def route(
        self,
        path: str,
        handler: Handler,
        purpose: str,
        methods: tuple[str, ...] = ("GET",),
        **more: Any,
    ) -> Guarded:
        """A route whose handler raises what is to be answered."""

        async def respond(request: Request) -> Response:
            try:
                caller: Caller = request.scope[CALLER]
                check_key(caller, required=self.core.snapshot.settings.require_api_key)
                return await handler(request, owner_of(caller))
            except GatewayError as error:
                return self._refusal(error, request)
            except ClientGone:
                return Response(status_code=CLIENT_GONE)
            except OSError:
                log.exception("request %s failed to %s", request_id_of(request), purpose)
                unavailable = Unavailable("The files cannot be read or written now")
                return self._refusal(unavailable, request)
            except Exception:
                log.exception("request %s failed to %s", request_id_of(request), purpose)
                return self._refusal(GatewayError("Request failed"), request)

        return guarded(path, respond, Access.INFERENCE, purpose, methods, **more)

    def _refusal(self, error: GatewayError, request: Request) -> Response:
        request_id = request_id_of(request)
        body = self.write_error(error, request_id)
        if isinstance(error, BadInput):
            body = error.with_details(body)
        headers = {**NO_STORE, "x-request-id": request_id}
        if error.retry_after is not None:
            headers["retry-after"] = str(max(1, ceil(error.retry_after)))
        return Response(body, error.status, headers, "application/json")

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        """An error in the envelope of the surface."""
        return service_error(error, request_id)

    async def find(self, request: Request, owner: str) -> Batch:
        """The batch that a path names. Raises BadRequest, NotFound."""
        id = check_id(request.path_params["id"])
        batch = await self.batches.store.find(owner, self.surface, id)
        if batch is None:
            raise NotFound(f"No such batch: {id}", param="id")
        return batch

    async def page(self, request: Request, owner: str) -> tuple[list[Batch], bool]:
        """The batches that a query names, and whether there are more. Raises BadRequest."""
        query = read_query(request)
        after = query.after or query.after_id
        page = await self.batches.store.page(
            owner,
            self.surface,
            limit=self._limit(query.limit),
            after=check_id(after) if after else None,
            before=check_id(query.before_id) if query.before_id else None,
        )
        return list(page.batches), page.has_more

    async def cancel(self, request: Request, owner: str) -> Batch:
        """Cancel, and wait for the rows under way. Raises BadRequest, NotFound."""
        batch = await self.find(request, owner)
        await self.batches.store.cancel(batch.id, self.core.clock())
        self.batches.scheduler.wake(batch.id)
        until = asyncio.get_running_loop().time() + CANCEL_WAIT
        # The batch may be run by another process, so only the database knows.
        while asyncio.get_running_loop().time() < until:
            batch = await self.find(request, owner)
            if batch.status != "cancelling":
                break
            await asyncio.sleep(LOOK_EVERY)
        return batch

    async def check_room(self, owner: str) -> None:
        """Raises LimitExceeded for an owner that has as many batches open as it may have."""
        most = settings_of(self.core).open_per_owner
        if await self.batches.store.count_open(owner) >= most:
            raise LimitExceeded(
                f"You have {most} batches that have not ended", retry_after=RETRY_AFTER
            )

    def new_batch(self, request: Request, owner: str, endpoint: str, **more: Any) -> Batch:
        """A batch that is not stored yet. Raises UnknownRoute for an endpoint that no installed
        format has."""
        caller: Caller = request.scope[CALLER]
        now = self.core.clock()
        route = self.batches.calls.route(endpoint)
        return Batch(
            id=self.batches.new_id(PREFIXES[self.surface]),
            surface=self.surface,
            owner=owner,
            is_cli=caller.is_cli,
            endpoint=endpoint,
            headers=row_headers(route, headers_of(request.scope)),
            created_at=now,
            expires_at=now + WINDOW,
            **more,
        )

    async def store(self, batch: Batch) -> None:
        """Store a batch whose input is in its place, and have it run."""
        await self.batches.store.create(batch)
        self.batches.scheduler.wake()

    def _limit(self, limit: int | None) -> int:
        if limit is None:
            return USUAL_PAGE
        if not 1 <= limit <= self.most_listed:
            raise BadRequest(f"limit must be from 1 to {self.most_listed}", param="limit")
        return limit


USUAL_PAGE = 20
"""As at both vendors."""


class BadInput(BadRequest):
    """An input whose lines are not all requests; the details say which are wrong."""

    def __init__(self, errors: tuple[BatchError, ...]) -> None:
        first = errors[0]
        where = "" if first.line is None else f"line {first.line}: "
        super().__init__(f"invalid input file: {where}{first.message}")
        self.errors = errors

    def with_details(self, body: bytes) -> bytes:
        """An error's body with the list of them."""
        document = msgspec.json.decode(body)
        document["error"]["details"] = self.errors
        return msgspec.json.encode(document)


def read_query(request: Request) -> PageQuery:
    """Raises BadRequest. Parameters of other meaning, which SDKs add, are passed over."""
    known = PageQuery.__struct_encode_fields__
    given = {n: value for n, value in request.query_params.items() if n in known and value}
    try:
        return msgspec.convert(given, PageQuery, strict=False)
    except msgspec.ValidationError as error:
        name = str(error).partition("`$.")[2].rstrip("`")
        raise BadRequest(f"Invalid {name}", param=name) from None


async def read_json(request: Request, kind: type[T], limit: int, reserve: Reserve = unlimited) -> T:
    """A JSON body. Raises UnsupportedMedia, BodyTooLarge, BadRequest, ClientGone, Unavailable."""
    headers = headers_of(request.scope)
    if not is_json(headers.get("content-type", "")):
        raise UnsupportedMedia("Content-Type must be application/json")
    body = await whole_body(request.receive, headers, limit, reserve)
    body = decode(body, headers, limit, reserve)
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("The request body is not valid JSON") from None
