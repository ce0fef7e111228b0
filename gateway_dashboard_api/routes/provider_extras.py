"""Further things to do with accounts and providers: try models, keep warm, suggest (A.1)."""

import asyncio
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.storage.stores.connection import ConnectionChange

from ..connection_rows import row_for
from ..desk import AdminContext
from ..endpoint import endpoint
from ..owners import owner_of
from ..requests import query, read
from .connections import PATH, connection_of
from .model_tests import AT_ONCE, Asked, Outcome, check_asked, outcome_of

AUTO_PING = "autoPing"
TEST = "test the models"
MOST_SUGGESTED = 500


class ModelsBody(Struct, frozen=True, kw_only=True):
    models: Annotated[tuple[Asked, ...], Meta(min_length=1, max_length=200)]


class Tested(Struct, frozen=True, kw_only=True, rename="camel"):
    model: str
    kind: str | None
    ok: bool
    latency_ms: int
    error: str | None
    status: int


class TestedModels(Struct, frozen=True, kw_only=True):
    results: tuple[Tested, ...]


class PingBody(Struct, frozen=True, kw_only=True):
    enabled: bool


class ConnectionAnswer(Struct, frozen=True, kw_only=True):
    connection: dict[str, Any]


class SuggestionQuery(Struct, frozen=True, kw_only=True):
    type: str
    """A provider's id, alias or prefix."""


class Suggestion(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    id: str
    name: str
    kind: str
    context_length: int | None = None
    """Tokens."""


class Suggestions(Struct, frozen=True, kw_only=True):
    data: tuple[Suggestion, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    one, models = PATH + "/{id}", PATH + "/suggested-models"
    tried = partial(endpoint, admin, body=ModelsBody, example={"models": [{"model": "large"}]})
    ping = partial(endpoint, admin, body=PingBody, example={"enabled": True})
    suggested = partial(endpoint, admin, query=SuggestionQuery, answer=Suggestions)
    operator, answer = Access.OPERATOR, TestedModels
    return [
        tried("POST", one + "/test-models", test_models, TEST, access=operator, answer=answer),
        ping("PATCH", one + "/auto-ping", set_ping, "set the auto-ping", answer=ConnectionAnswer),
        suggested("GET", models, suggest, "suggest models"),
    ]


async def test_models(admin: AdminContext, request: Request) -> Response:
    """Ask models for one word each, all with this account. A bare id is the provider's own."""
    body = await read(request, ModelsBody)
    for each in body.models:
        check_asked(each)
    connection = await connection_of(admin, request.path_params["id"])
    if not connection.is_active:
        raise BadRequest("Connection is not active")
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(asked: Asked) -> Tested:
        own = msgspec.structs.replace(
            asked, model=_whole(admin, connection.provider, asked.model.strip())
        )
        async with gate:
            outcome, _ = await outcome_of(admin, own, connection.id)
        return _tested(asked, outcome)

    return json_answer(TestedModels(results=tuple(await asyncio.gather(*map(one, body.models)))))


def _whole(admin: AdminContext, provider: str, model: str) -> str:
    """The model's name with this provider's prefix, unless that stands there already."""
    prefix, slash, _ = model.partition("/")
    is_named = slash and admin.provider_id(prefix) == provider
    return model if is_named else f"{provider}/{model}"


def _tested(asked: Asked, outcome: Outcome) -> Tested:
    return Tested(
        model=asked.model,
        kind=asked.kind,
        ok=outcome.ok,
        latency_ms=outcome.latency_ms,
        error=outcome.error,
        status=outcome.status,
    )


async def set_ping(admin: AdminContext, request: Request) -> Response:
    """Whether the account is to be kept warm; in this version the wish is only kept."""
    body = await read(request, PingBody)
    identity = request.path_params["id"]
    change = ConnectionChange(data={AUTO_PING: body.enabled})
    async with admin.writing():
        after = await admin.stores.connections.update(identity, change)
    return json_answer({"connection": row_for(admin, request, after)})


async def suggest(admin: AdminContext, request: Request) -> Response:
    """Models that a provider's plugin knows of; nobody is asked over the network."""
    owner = await owner_of(admin, query(request, SuggestionQuery).type)
    rows = () if owner.spec is None else owner.spec.models
    found = tuple(
        Suggestion(
            id=row.id,
            name=row.name or row.id,
            kind=row.kind.value,
            context_length=row.context,
        )
        for row in rows[:MOST_SUGGESTED]
    )
    return json_answer(Suggestions(data=found))
