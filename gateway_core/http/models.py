"""The catalog routes: what can be called, in the envelope a client expects (4.1, 4.3)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from ..contracts.errors import (
    INVALID,
    BadRequest,
    GatewayError,
    NotFound,
    Unauthorized,
    UnknownModel,
)
from ..contracts.kinds import Kind, read_kind
from ..identity.access import Access
from ..identity.caller import Caller
from ..identity.credentials import CALLER, check_key
from ..pipeline.context import Collaborators
from ..routing.access_policy import permitted_rows
from ..routing.model_listing import (
    Row,
    cli_list,
    generative_list,
    local_server_list,
    messages_list,
    messages_row,
    named_kind,
    of_kind,
    rows,
    usual,
)
from ..routing.model_resolver import undecorated
from .operations import Guarded, guarded
from .requests import request_id_of
from .responses import NO_STORE, error_answer, json_answer

Handler = Callable[[Request], Any]
CREATED = 1_735_689_600
"""When every model was created: vendors do not say, and lists of one day must equal the next's."""
VERSION_HEADER = "anthropic-version"
"""Its presence asks for the messages-style list."""
COMMAND_LINE = "codex"
"""Found in the originator or user agent of the command line that has a list of its own."""


class InfoQuery(Struct, frozen=True):
    """``id`` is a model's, with its prefix; ``kind`` narrows it to models for that work."""

    id: str
    kind: str | None = None


class Admission(Struct, frozen=True):
    ok: bool = True


STYLES = {
    VERSION_HEADER: "Asks for the messages-style list.",
    "originator": f"The list of the {COMMAND_LINE} command line, where its name is in it.",
}


def routes(core: Collaborators) -> list[Guarded]:
    catalog = Catalog(core)
    get, both = ("GET",), ("GET", "HEAD")
    rows = "list the models"
    return [
        _route("/v1", catalog.all, rows, both, headers=STYLES),
        guarded(
            "/v1/realtime/auth",
            catalog.admission,
            Access.PUBLIC,
            "check a key",
            get,
            answer=Admission,
        ),
        _route("/v1/models", catalog.all, rows, both, headers=STYLES),
        _route("/v1/models/info", catalog.info, "describe a model", both, query=InfoQuery),
        _route("/v1/models/{name:path}", catalog.some, "list models of a kind, or one model", both),
        _route("/v1beta/models", catalog.generative, rows, get),
        _route("/v1beta/models/{name:path}", catalog.generative_one, "describe a model", get),
        _route("/api/tags", catalog.tags, rows, get),
    ]


def _route(
    path: str, handler: Handler, purpose: str, methods: tuple[str, ...], **more: Any
) -> Guarded:
    """A list, or a row of it, in an envelope that is the client's own."""
    return guarded(path, handler, Access.CATALOG, purpose, methods, answer=Row, **more)


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope[CALLER]
    return caller


def probed() -> Response:
    """The answer to HEAD: no body at all."""
    return Response(headers=dict(NO_STORE), media_type="application/json")


class Catalog:
    """Answers from the tables in memory."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    async def all(self, request: Request) -> Response:
        if request.method == "HEAD":
            return probed()
        return json_answer(self._list(request, usual(self._rows(request))))

    async def admission(self, request: Request) -> Response:
        """Whether the caller's key would be admitted to a socket."""
        try:
            check_key(_caller(request), required=self._core.snapshot.settings.require_api_key)
        except Unauthorized as refused:
            error = {"message": refused.message, "type": INVALID, "code": refused.code}
            return json_answer({"error": error}, refused.status)
        return json_answer(Admission())

    async def some(self, request: Request) -> Response:
        """The rows of one kind, or one row by its prefixed id."""
        name = request.path_params["name"].strip("/")
        kind = named_kind(self._core.snapshot, name)
        if kind is not None:
            if request.method == "HEAD":
                return probed()
            return json_answer(self._list(request, of_kind(self._rows(request), kind)))
        if VERSION_HEADER in request.headers:
            return self._answer(request, lambda: messages_row(self._decorated(request, name)))
        if "/" not in name and not any(row["id"] == name for row in self._rows(request)):
            return error_answer(NotFound("Unknown model kind"), request_id_of(request))
        if request.method == "HEAD":
            return probed()
        return self._answer(request, lambda: self._find(request, name, None))

    async def info(self, request: Request) -> Response:
        query = request.query_params
        return self._answer(
            request, lambda: self._find(request, query.get("id", ""), query.get("kind"))
        )

    async def generative(self, request: Request) -> Response:
        return json_answer(generative_list(self._core.snapshot, usual(self._rows(request))))

    async def generative_one(self, request: Request) -> Response:
        listed = generative_list(self._core.snapshot, usual(self._rows(request)))
        name = "models/" + request.path_params["name"].removeprefix("models/")
        for row in listed["models"]:
            if row["name"] == name:
                return json_answer(row)
        error = {"code": 404, "message": f"{name} is not found", "status": "NOT_FOUND"}
        return json_answer({"error": error}, 404)

    async def tags(self, request: Request) -> Response:
        return json_answer(local_server_list(usual(self._rows(request))))

    def _rows(self, request: Request) -> list[Row]:
        """What this caller may use."""
        snapshot, key = self._core.snapshot, _caller(request).key
        listed = rows(snapshot, CREATED)
        return listed if key is None else permitted_rows(snapshot, self._core.prices, key, listed)

    def _list(self, request: Request, listed: list[Row]) -> Row:
        """The envelope: messages style first, then the command line's, else completions style."""
        if VERSION_HEADER in request.headers:
            return messages_list(listed)
        if any(
            COMMAND_LINE in request.headers.get(name, "").lower()
            for name in ("originator", "user-agent")
        ):
            return cli_list(listed)
        return {"object": "list", "data": listed}

    def _answer(self, request: Request, find: Callable[[], Row]) -> Response:
        try:
            return json_answer(find())
        except GatewayError as error:
            return error_answer(error, request_id_of(request))

    def _decorated(self, request: Request, name: str) -> Row:
        """One row by its id in the messages-style list. Raises UnknownModel."""
        for each in undecorated(name):
            with suppress(UnknownModel):
                return self._find(request, each, None)
        raise UnknownModel(f"Model {name} is not in the catalog")

    def _find(self, request: Request, name: str, kind: str | None) -> Row:
        """One row by its id, in any spelling of the provider. Raises BadRequest, UnknownModel."""
        if not name:
            raise BadRequest("Missing query parameter: id")
        # A prefixed id is also good with the prefix that the catalog shows.
        prefix, slash, rest = name.partition("/")
        registry = self._core.snapshot.registry
        spec = registry.providers.get(registry.names.get(prefix, ""))
        spellings = {name}
        if slash and spec is not None:
            spellings.add(f"{spec.alias or spec.id}/{rest}")
        word = read_kind(kind) if kind else None
        for row in self._rows(request):
            if row["id"] in spellings and word in (None, row.get("kind", Kind.LLM)):
                return row
        raise UnknownModel(f"Model {name} is not in the catalog")
