"""Which models of a provider are hidden, and which are the only ones shown (A.5)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import MAX_NAME
from gateway_core.storage.stores.kv import DISABLED_MODELS, ENABLED_MODELS

from ..accounts.owners import provider_of
from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from ..requests import read_json, require_parameter
from .bodies import EnableQuery, IdsBody, OwnerQuery, ProviderQuery
from .views import DisabledIds, EnabledIds, Shown

DISABLED = "/api/models/disabled"
ENABLED = "/api/models/enabled"
MOST_IDS = 5000
EXAMPLE = {"providerAlias": "openai", "ids": ["a-model"]}


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            DISABLED,
            list_disabled,
            "list disabled models",
            query=OwnerQuery,
            answer=DisabledIds,
        ),
        endpoint(
            admin,
            "POST",
            DISABLED,
            disable,
            "disable models",
            body=IdsBody,
            answer=Success,
            example=EXAMPLE,
        ),
        endpoint(
            admin,
            "DELETE",
            DISABLED,
            enable_again,
            "enable models",
            query=EnableQuery,
            answer=Success,
        ),
        endpoint(
            admin,
            "GET",
            ENABLED,
            list_enabled,
            "list enabled models",
            query=OwnerQuery,
            answer=EnabledIds,
        ),
        endpoint(
            admin,
            "PUT",
            ENABLED,
            show_only,
            "set the enabled models",
            body=IdsBody,
            answer=Shown,
            example=EXAMPLE,
        ),
        endpoint(
            admin,
            "DELETE",
            ENABLED,
            show_all,
            "clear the enabled models",
            query=ProviderQuery,
            answer=Success,
        ),
    ]


async def list_disabled(admin: AdminContext, request: Request) -> Response:
    return await _list(admin, request, DISABLED_MODELS, "disabled")


async def list_enabled(admin: AdminContext, request: Request) -> Response:
    return await _list(admin, request, ENABLED_MODELS, "enabled")


async def _list(admin: AdminContext, request: Request, scope: str, member: str) -> Response:
    """List one provider's ids, or all by provider."""
    name = request.query_params.get("providerAlias")
    if name:
        provider = await provider_of(admin, name, stored=True)
        return json_answer({"ids": await _ids(admin, scope, provider)})
    stored = await admin.stores.kv.all(scope)
    return json_answer({member: {admin.prefix(each): ids for each, ids in stored.items()}})


async def disable(admin: AdminContext, request: Request) -> Response:
    provider, ids = await _read(admin, await read_json(request, IdsBody))
    async with admin.writing():
        before = await _ids(admin, DISABLED_MODELS, provider)
        await _store(admin, request, DISABLED_MODELS, provider, [*before, *ids])
    return json_answer(Success())


async def enable_again(admin: AdminContext, request: Request) -> Response:
    """Remove one id, or all of a provider's, from the disabled models."""
    provider = await provider_of(admin, require_parameter(request, "providerAlias"), stored=True)
    identity = request.query_params.get("id")
    async with admin.writing():
        before = await _ids(admin, DISABLED_MODELS, provider)
        remaining = [each for each in before if each != identity] if identity else []
        await _store(admin, request, DISABLED_MODELS, provider, remaining)
    return json_answer(Success())


async def show_only(admin: AdminContext, request: Request) -> Response:
    """Replace the list; an empty one shows all. Listed models are enabled again."""
    provider, ids = await _read(admin, await read_json(request, IdsBody))
    async with admin.writing():
        disabled = await _ids(admin, DISABLED_MODELS, provider)
        await _store(
            admin, request, DISABLED_MODELS, provider, [x for x in disabled if x not in ids]
        )
        await _store(admin, request, ENABLED_MODELS, provider, ids)
    return json_answer(Shown(ids=ids))


async def show_all(admin: AdminContext, request: Request) -> Response:
    provider = await provider_of(admin, require_parameter(request, "providerAlias"), stored=True)
    async with admin.writing():
        await _store(admin, request, ENABLED_MODELS, provider, [])
    return json_answer(Success())


async def _read(admin: AdminContext, body: IdsBody) -> tuple[str, list[str]]:
    """Return the provider and the ids without duplicates. Raises BadRequest."""
    if not body.provider_alias or body.ids is None:
        raise BadRequest("providerAlias and ids required")
    ids = list(dict.fromkeys(each.strip() for each in body.ids))
    if not all(ids) or any(len(each) > MAX_NAME for each in ids) or len(ids) > MOST_IDS:
        raise BadRequest("Invalid ids")
    return await provider_of(admin, body.provider_alias), ids


async def _ids(admin: AdminContext, scope: str, provider: str) -> list[Any]:
    return await admin.stores.kv.get(scope, provider) or []


async def _store(
    admin: AdminContext, request: Request, scope: str, provider: str, ids: list[Any]
) -> None:
    before = {scope: await _ids(admin, scope, provider)}
    await admin.audit_change(request, "model-visibility.update", provider, before, {scope: ids})
    if ids:
        await admin.stores.kv.put(scope, {provider: list(dict.fromkeys(ids))})
    else:
        await admin.stores.kv.delete(scope, provider)
