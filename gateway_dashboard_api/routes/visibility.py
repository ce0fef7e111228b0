"""Which models of a provider are hidden, and which are the only ones shown (A.5)."""

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import MAX_NAME
from gateway_core.storage.stores.kv import DISABLED_MODELS, ENABLED_MODELS

from ..answers import Success
from ..desk import Desk
from ..endpoint import endpoint
from ..owners import provider_of
from ..requests import read, required

DISABLED = "/api/models/disabled"
ENABLED = "/api/models/enabled"
MOST_IDS = 5000


class IdsBody(Struct, frozen=True, kw_only=True, rename="camel"):
    provider_alias: str | None = None
    ids: tuple[str, ...] | None = None


class OwnerQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without a provider, everybody's by alias."""

    provider_alias: str | None = None


class ProviderQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    provider_alias: str


class EnableQuery(ProviderQuery, frozen=True, kw_only=True, rename="camel"):
    """Without an ``id``, all of the provider's."""

    id: str | None = None


class DisabledIds(Struct, frozen=True, kw_only=True):
    """``ids`` of one provider, else everybody's."""

    ids: list[str] | UnsetType = UNSET
    disabled: dict[str, list[str]] | UnsetType = UNSET


class EnabledIds(Struct, frozen=True, kw_only=True):
    """``ids`` of one provider, else everybody's."""

    ids: list[str] | UnsetType = UNSET
    enabled: dict[str, list[str]] | UnsetType = UNSET


class Shown(Struct, frozen=True, kw_only=True):
    success: bool = True
    ids: list[str]


EXAMPLE = {"providerAlias": "openai", "ids": ["a-model"]}
_read_ids = msgspec.json.Decoder(IdsBody)


def routes(desk: Desk) -> list[Guarded]:
    return [
        *_hiding(desk),
        endpoint(
            desk,
            "GET",
            ENABLED,
            list_enabled,
            "list enabled models",
            query=OwnerQuery,
            answer=EnabledIds,
        ),
        endpoint(
            desk,
            "PUT",
            ENABLED,
            show_only,
            "set the enabled models",
            body=IdsBody,
            answer=Shown,
            example=EXAMPLE,
        ),
        endpoint(
            desk,
            "DELETE",
            ENABLED,
            show_all,
            "clear the enabled models",
            query=ProviderQuery,
            answer=Success,
        ),
    ]


def _hiding(desk: Desk) -> list[Guarded]:
    return [
        endpoint(
            desk,
            "GET",
            DISABLED,
            list_disabled,
            "list disabled models",
            query=OwnerQuery,
            answer=DisabledIds,
        ),
        endpoint(
            desk,
            "POST",
            DISABLED,
            disable,
            "disable models",
            body=IdsBody,
            answer=Success,
            example=EXAMPLE,
        ),
        endpoint(
            desk,
            "DELETE",
            DISABLED,
            enable_again,
            "enable models",
            query=EnableQuery,
            answer=Success,
        ),
    ]


async def list_disabled(desk: Desk, request: Request) -> Response:
    return await _list(desk, request, DISABLED_MODELS, "disabled")


async def list_enabled(desk: Desk, request: Request) -> Response:
    return await _list(desk, request, ENABLED_MODELS, "enabled")


async def _list(desk: Desk, request: Request, scope: str, member: str) -> Response:
    """One provider's ids, or everybody's by alias."""
    name = request.query_params.get("providerAlias")
    if name:
        provider = await provider_of(desk, name, stored=True)
        return json_answer({"ids": await _ids(desk, scope, provider)})
    stored = await desk.stores.kv.all(scope)
    return json_answer({member: {desk.prefix(each): ids for each, ids in stored.items()}})


async def disable(desk: Desk, request: Request) -> Response:
    provider, ids = await _read(desk, await read(request, _read_ids))
    async with desk.writing():
        before = await _ids(desk, DISABLED_MODELS, provider)
        await _keep(desk, DISABLED_MODELS, provider, [*before, *ids])
    return json_answer(Success())


async def enable_again(desk: Desk, request: Request) -> Response:
    """Take one id, or all of a provider's, off the list of disabled ones."""
    provider = await provider_of(desk, required(request, "providerAlias"), stored=True)
    identity = request.query_params.get("id")
    async with desk.writing():
        before = await _ids(desk, DISABLED_MODELS, provider)
        kept = [each for each in before if each != identity] if identity else []
        await _keep(desk, DISABLED_MODELS, provider, kept)
    return json_answer(Success())


async def show_only(desk: Desk, request: Request) -> Response:
    """Replace the list; an empty one shows all. What is listed is not disabled any more."""
    provider, ids = await _read(desk, await read(request, _read_ids))
    async with desk.writing():
        disabled = await _ids(desk, DISABLED_MODELS, provider)
        await _keep(desk, DISABLED_MODELS, provider, [x for x in disabled if x not in ids])
        await _keep(desk, ENABLED_MODELS, provider, ids)
    return json_answer(Shown(ids=ids))


async def show_all(desk: Desk, request: Request) -> Response:
    provider = await provider_of(desk, required(request, "providerAlias"), stored=True)
    async with desk.writing():
        await _keep(desk, ENABLED_MODELS, provider, [])
    return json_answer(Success())


async def _read(desk: Desk, body: IdsBody) -> tuple[str, list[str]]:
    """The provider and the ids, each once. Raises BadRequest."""
    if not body.provider_alias or body.ids is None:
        raise BadRequest("providerAlias and ids required")
    ids = list(dict.fromkeys(each.strip() for each in body.ids))
    if not all(ids) or any(len(each) > MAX_NAME for each in ids) or len(ids) > MOST_IDS:
        raise BadRequest("Invalid ids")
    return await provider_of(desk, body.provider_alias), ids


async def _ids(desk: Desk, scope: str, provider: str) -> list[Any]:
    return await desk.stores.kv.get(scope, provider) or []


async def _keep(desk: Desk, scope: str, provider: str, ids: list[Any]) -> None:
    if ids:
        await desk.stores.kv.put(scope, {provider: list(dict.fromkeys(ids))})
    else:
        await desk.stores.kv.delete(scope, provider)
