"""The dashboard's list of models, and the short names the operator gives them (A.5)."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, GatewayError, NotAChatModel
from gateway_core.contracts.kinds import Kind
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import MAX_NAME, resolve
from gateway_core.routing.snapshot import Tables
from gateway_core.storage.stores.kv import ALIASES

from ..answers import Success
from ..bodies import said
from ..combo_checks import check_circles
from ..desk import Desk
from ..endpoint import endpoint
from ..requests import read, required

PATH = "/api/models"
ALIAS = f"{PATH}/alias"


class AliasBody(Struct, frozen=True, kw_only=True, rename="camel"):
    model: str | None = None
    alias: str | None = None


class ModelRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """``alias`` is the short name the operator gave it; ``fullModel`` is what to ask for."""

    provider: str
    model: str
    name: str
    full_model: str
    alias: str | None
    kind: Kind


class ModelRows(Struct, frozen=True):
    models: tuple[ModelRow, ...]


class Aliases(Struct, frozen=True):
    """What each alias means."""

    aliases: Mapping[str, str]


class Named(Struct, frozen=True, kw_only=True):
    success: bool = True
    model: str
    alias: str


class AliasQuery(Struct, frozen=True, kw_only=True):
    alias: str


_read_alias = msgspec.json.Decoder(AliasBody)


def routes(desk: Desk) -> list[Guarded]:
    return [
        endpoint(desk, "GET", PATH, list_all, "list models", answer=ModelRows),
        _naming(desk, PATH),
        endpoint(desk, "GET", ALIAS, list_aliases, "list aliases", answer=Aliases),
        _naming(desk, ALIAS),
        endpoint(
            desk, "DELETE", ALIAS, forget_one, "delete the alias", query=AliasQuery, answer=Success
        ),
    ]


def _naming(desk: Desk, path: str) -> Guarded:
    return endpoint(
        desk,
        "PUT",
        path,
        name_one,
        "set the alias",
        body=AliasBody,
        answer=Named,
        example={"model": "echo/echo", "alias": "parrot"},
    )


async def list_all(desk: Desk, request: Request) -> Response:
    """Every model of every provider, connected or not, without disabled ones."""
    names = _names(desk.tables)
    rows = (
        ModelRow(
            provider=provider,
            model=row.id,
            name=row.name or row.id,
            full_model=f"{desk.prefix(provider)}/{row.id}",
            alias=names.get((provider, row.id)),
            kind=row.kind,
        )
        for provider, models in desk.tables.models.items()
        for row in models
    )
    return json_answer(ModelRows(tuple(rows)))


def _names(tables: Tables) -> dict[tuple[str, str], str]:
    """Aliases by provider and model id, however the prefix is spelled."""
    found: dict[tuple[str, str], str] = {}
    for alias, meaning in tables.aliases.items():
        prefix, _, model = meaning.partition("/")
        found.setdefault((tables.registry.names.get(prefix, prefix), model), alias)
    return found


async def list_aliases(desk: Desk, request: Request) -> Response:
    return json_answer(Aliases(desk.tables.aliases))


async def name_one(desk: Desk, request: Request) -> Response:
    body = await read(request, _read_alias)
    model, alias = said(body.model), said(body.alias)
    if not model or not alias:
        raise BadRequest("Model and alias required")
    _check_word(alias)
    async with desk.writing():
        check_alias(desk.tables, alias, model)
        await desk.stores.kv.put(ALIASES, {alias: model})
    return json_answer(Named(model=model, alias=alias))


def _check_word(alias: str) -> None:
    if len(alias) > MAX_NAME or "/" in alias or " " in alias or not alias.isprintable():
        raise BadRequest("Invalid alias: a name without slash or space is needed")


def check_alias(tables: Tables, alias: str, model: str) -> None:
    """Raises BadRequest for a name that is a combo's, or that would mean nothing."""
    if alias in tables.combos:
        raise BadRequest(f"A combo named {alias} already exists")
    # An alias never means another alias.
    plain = msgspec.structs.replace(tables, aliases={})
    try:
        resolve(plain, model)
    except NotAChatModel:
        pass  # A model for other work may have a short name too.
    except GatewayError as error:
        raise BadRequest(f"Invalid model: {error.message}") from None
    check_circles(msgspec.structs.replace(tables, aliases={**tables.aliases, alias: model}))


async def forget_one(desk: Desk, request: Request) -> Response:
    alias = required(request, "alias")
    async with desk.writing():
        await desk.stores.kv.delete(ALIASES, alias)
    return json_answer(Success())
