"""Which models of a provider are hidden, and which are the only ones shown (A.5)."""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from gateway_core.contracts.errors import BadRequest
from gateway_core.inference.catalog import MAX_NAME
from gateway_core.storage.kv import DISABLED_MODELS, ENABLED_MODELS
from gateway_core.surfaces.answers import json_answer

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


_read_ids = msgspec.json.Decoder(IdsBody)


def routes(desk: Desk) -> list[BaseRoute]:
    return [
        endpoint(desk, "GET", DISABLED, list_disabled, "list disabled models"),
        endpoint(desk, "POST", DISABLED, disable, "disable models"),
        endpoint(desk, "DELETE", DISABLED, enable_again, "enable models"),
        endpoint(desk, "GET", ENABLED, list_enabled, "list enabled models"),
        endpoint(desk, "PUT", ENABLED, show_only, "set the enabled models"),
        endpoint(desk, "DELETE", ENABLED, show_all, "clear the enabled models"),
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
    return json_answer({"success": True})


async def enable_again(desk: Desk, request: Request) -> Response:
    """Take one id, or all of a provider's, off the list of disabled ones."""
    provider = await provider_of(desk, required(request, "providerAlias"), stored=True)
    identity = request.query_params.get("id")
    async with desk.writing():
        before = await _ids(desk, DISABLED_MODELS, provider)
        kept = [each for each in before if each != identity] if identity else []
        await _keep(desk, DISABLED_MODELS, provider, kept)
    return json_answer({"success": True})


async def show_only(desk: Desk, request: Request) -> Response:
    """Replace the list; an empty one shows all. What is listed is not disabled any more."""
    provider, ids = await _read(desk, await read(request, _read_ids))
    async with desk.writing():
        disabled = await _ids(desk, DISABLED_MODELS, provider)
        await _keep(desk, DISABLED_MODELS, provider, [x for x in disabled if x not in ids])
        await _keep(desk, ENABLED_MODELS, provider, ids)
    return json_answer({"success": True, "ids": ids})


async def show_all(desk: Desk, request: Request) -> Response:
    provider = await provider_of(desk, required(request, "providerAlias"), stored=True)
    async with desk.writing():
        await _keep(desk, ENABLED_MODELS, provider, [])
    return json_answer({"success": True})


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
