"""Models that the operator adds to a provider (A.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import MAX_NAME
from gateway_core.storage.stores.kv import CUSTOM_MODELS

from ..accounts.owners import provider_of
from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from ..requests import read_json, require_parameter
from .bodies import Capabilities, CustomModelQuery, ModelBody
from .kinds import kind_of
from .views import Added, CustomModel, CustomModels

PATH = "/api/models/custom"
Row = dict[str, Any]
SHOWN = CustomModel.__struct_encode_fields__


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, list_all, "list custom models", answer=CustomModels),
        endpoint(
            admin,
            "POST",
            PATH,
            add,
            "add the custom model",
            body=ModelBody,
            answer=Added,
            example={"providerAlias": "openai", "id": "a-model", "name": "A model"},
        ),
        endpoint(
            admin,
            "PATCH",
            PATH,
            update,
            "update the custom model",
            body=ModelBody,
            answer=Success,
            example={
                "providerAlias": "openai",
                "id": "a-model",
                "capabilities": {"contextWindow": 128_000},
            },
        ),
        endpoint(
            admin,
            "DELETE",
            PATH,
            delete,
            "delete the custom model",
            query=CustomModelQuery,
            answer=Success,
        ),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    stored = await admin.stores.kv.all(CUSTOM_MODELS)
    rows = (
        CustomModel(
            provider_alias=admin.prefix(provider),
            provider=provider,
            id=row["id"],
            type=row["kind"],
            name=row.get("name") or row["id"],
            capabilities=row.get("capabilities"),
        )
        for provider, models in stored.items()
        for row in models
    )
    return json_answer(CustomModels(tuple(rows)))


async def add(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, ModelBody, ignored=SHOWN)
    provider, identity, kind = await _read_identity(admin, body)
    row = _apply_body({"id": identity, "kind": str(kind)}, body)
    async with admin.writing():
        models = await _stored(admin, provider)
        spec = admin.spec(provider)
        built_in = () if spec is None else spec.models
        added = not any(_matches(row, identity, kind) for row in models) and not any(
            row.id == identity and row.kind == kind for row in built_in
        )
        if added:
            await admin.audit_change(request, "custom-model.create", provider, None, row)
            await admin.stores.kv.put(CUSTOM_MODELS, {provider: [*models, row]})
    return json_answer(Added(added=added))


async def update(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, ModelBody, ignored=SHOWN)
    provider, identity, kind = await _read_identity(admin, body)
    async with admin.writing():
        models = await _stored(admin, provider)
        if not any(_matches(row, identity, kind) for row in models):
            raise NotFound("Custom model not found")
        after = [_apply_body(row, body) if _matches(row, identity, kind) else row for row in models]
        await admin.audit_change(
            request, "custom-model.update", provider, _by_id(models), _by_id(after)
        )
        await admin.stores.kv.put(CUSTOM_MODELS, {provider: after})
    return json_answer(Success())


async def delete(admin: AdminContext, request: Request) -> Response:
    """Remove a model; without a type, every model of that id."""
    provider = await provider_of(admin, require_parameter(request, "providerAlias"), stored=True)
    identity = require_parameter(request, "id")
    word = request.query_params.get("type") or request.query_params.get("kind")
    kind = kind_of(admin.snapshot, word) if word else None
    async with admin.writing():
        models = await _stored(admin, provider)
        remaining = [row for row in models if not _matches(row, identity, kind)]
        before = _by_id(models)
        kept = {**dict.fromkeys(before), **_by_id(remaining)}
        await admin.audit_change(request, "custom-model.delete", provider, before, kept)
        if remaining:
            await admin.stores.kv.put(CUSTOM_MODELS, {provider: remaining})
        else:
            await admin.stores.kv.delete(CUSTOM_MODELS, provider)
    return json_answer(Success())


async def _read_identity(admin: AdminContext, body: ModelBody) -> tuple[str, str, str]:
    """Provider, id and kind. Raises BadRequest."""
    identity = (body.id or "").strip()
    if not body.provider_alias or not identity:
        raise BadRequest("providerAlias and id required")
    if len(identity) > MAX_NAME or not identity.isprintable():
        raise BadRequest("Invalid id: it is too long or not printable")
    kind = kind_of(admin.snapshot, body.type or body.kind)
    return await provider_of(admin, body.provider_alias), identity, kind


def _apply_body(row: Row, body: ModelBody) -> Row:
    """Apply a body to a row. Raises BadRequest for invalid capabilities."""
    if isinstance(body.capabilities, Mapping):
        try:
            msgspec.convert(body.capabilities, Capabilities)
        except msgspec.ValidationError as error:
            raise BadRequest(f"Invalid capabilities: {error}") from None
    values = {"name": body.name or None, "capabilities": body.capabilities}
    changes = {name: values[name] for name in values if getattr(body, name) is not UNSET}
    # A row that a sync added is the operator's own once it was changed.
    after = {**row, **changes, "source": None}
    return {name: value for name, value in after.items() if value is not None}


async def _stored(admin: AdminContext, provider: str) -> list[Row]:
    return await admin.stores.kv.get(CUSTOM_MODELS, provider) or []


def _matches(row: Mapping[str, Any], identity: str, kind: str | None) -> bool:
    return row["id"] == identity and kind in (None, row["kind"])


def _by_id(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Rows for the audit trail."""
    return {f"{row['kind']}:{row['id']}": row for row in rows}
