"""``/v1/files``: the files of a client (4.8)."""

from functools import cached_property, partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.models import probed
from gateway_core.http.operations import FORM, Guarded
from gateway_core.http.responses import json_answer
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.exchanges import encode_losses

from .client_routes import client_route
from .content import BINARY, content_answer
from .ids import check_id
from .kept_elsewhere import AnyStore
from .limits import limits_of, store_of
from .record import FileRecord
from .threads import run
from .upload import PURPOSE, Uploads
from .views import FileDeleted, FileList, FileView, show_deleted, show_file, show_list

MOST_LISTED = 10_000
"""Files of one page, which is also the usual length."""
HEAD = ("GET", "HEAD")


class FileQuery(Struct, frozen=True, kw_only=True):
    """Newest first, unless ``order`` is ``asc``. ``after``, ``after_id`` and ``page`` are the same:
    the last id of the page before."""

    after: str | None = None
    limit: int | None = None
    order: Literal["asc", "desc"] = "desc"
    purpose: str | None = None
    after_id: str | None = None
    before_id: str | None = None
    page: str | None = None


class FileForm(Struct, frozen=True, kw_only=True):
    """``file`` is the content, with its name."""

    file: Annotated[str, Meta(extra_json_schema={"format": "binary"})]
    purpose: str = PURPOSE


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""
    files = Files(core)
    one, content = "/v1/files/{id}", "/v1/files/{id}/content"
    return [
        client_route(
            *(core, "/v1/files", files.list, "list the files", HEAD),
            query=FileQuery,
            answer=FileList,
        ),
        client_route(
            *(core, "/v1/files", files.upload, "store a file", ("POST",)),
            body=FileForm,
            body_media=FORM,
            example={"file": "{}", "purpose": PURPOSE},
            answer=FileView,
        ),
        client_route(core, one, files.show, "describe a file", HEAD, answer=FileView),
        client_route(core, one, files.delete, "delete a file", ("DELETE",), answer=FileDeleted),
        client_route(core, content, files.content, "fetch the content", HEAD, media=BINARY),
    ]


class Files:
    """Answers from the store."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    @cached_property
    def _store(self) -> AnyStore:
        return store_of(self._core)

    @cached_property
    def _uploads(self) -> Uploads:
        return Uploads(self._store)

    async def list(self, request: Request, owner: str) -> Response:
        if request.method == "HEAD":
            return probed()
        query = read_query(request)
        work = partial(
            self._store.page,
            owner,
            purpose=query.purpose,
            after=_cursor(query.after or query.after_id or query.page),
            before=_cursor(query.before_id),
            limit=_limit(query.limit),
            is_ascending=query.order == "asc",
        )
        return json_answer(show_list(request, await run(work)))

    async def upload(self, request: Request, owner: str) -> Response:
        largest = limits_of(self._core).largest
        headers = headers_of(request.scope)
        uploaded = await self._uploads.take(owner, headers, request.receive, largest)
        response = json_answer(show_file(request, uploaded.record))
        if uploaded.ignored:
            names = encode_losses(uploaded.ignored)
            response.headers["x-gateway-dropped"] = names.decode("ascii")
        return response

    async def show(self, request: Request, owner: str) -> Response:
        return json_answer(show_file(request, await self._find(request, owner)))

    async def delete(self, request: Request, owner: str) -> Response:
        id = check_id(request.path_params["id"])
        if not await run(partial(self._store.delete, owner, id)):
            raise missing(id)
        return json_answer(show_deleted(request, id))

    async def content(self, request: Request, owner: str) -> Response:
        record = await self._find(request, owner)
        try:
            return await content_answer(request, record, self._store.open)
        except FileNotFoundError:  # Deleted in between.
            raise missing(record.id) from None

    async def _find(self, request: Request, owner: str) -> FileRecord:
        """Raises BadRequest, NotFound."""
        id = check_id(request.path_params["id"])
        record = await run(partial(self._store.find, owner, id))
        if record is None:
            raise missing(id)
        return record


def missing(id: str) -> NotFound:
    """Also of a file that is another owner's."""
    return NotFound(f"No such file: {id}", param="id")


def read_query(request: Request) -> FileQuery:
    """Raises BadRequest. Parameters of other meaning, which SDKs add, are passed over."""
    known = FileQuery.__struct_encode_fields__
    given: dict[str, Any] = {
        name: value for name, value in request.query_params.items() if name in known and value
    }
    try:
        return msgspec.convert(given, FileQuery, strict=False)
    except msgspec.ValidationError as error:
        name = str(error).partition("`$.")[2].rstrip("`")
        raise BadRequest(f"Invalid {name}", param=name) from None


def _limit(limit: int | None) -> int:
    """Raises BadRequest for less than one; more than there may be is cut."""
    if limit is None:
        return MOST_LISTED
    if limit < 1:
        raise BadRequest("Invalid limit", param="limit")
    return min(limit, MOST_LISTED)


def _cursor(id: str | None) -> str | None:
    return None if id is None else check_id(id)
