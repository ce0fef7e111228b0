"""The list of models and the short names the operator gives them (A.5)."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, GatewayError, NotAChatModel
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import MAX_NAME, resolve
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.storage.stores.kv import ALIASES

from ..admin_context import AdminContext
from ..answers import Success
from ..combos.checks import check_circles
from ..endpoint import endpoint
from ..requests import read_json, require_parameter, strip
from .bodies import AliasBody, AliasQuery
from .views import Aliases, ModelRow, ModelRows, Named

PATH = "/api/models"
ALIAS = f"{PATH}/alias"


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, list_all, "list models", answer=ModelRows),
        _naming(admin, PATH),
        endpoint(admin, "GET", ALIAS, list_aliases, "list aliases", answer=Aliases),
        _naming(admin, ALIAS),
        endpoint(
            admin,
            "DELETE",
            ALIAS,
            delete_alias,
            "delete the alias",
            query=AliasQuery,
            answer=Success,
        ),
    ]


def _naming(admin: AdminContext, path: str) -> Guarded:
    return endpoint(
        admin,
        "PUT",
        path,
        set_alias,
        "set the alias",
        body=AliasBody,
        answer=Named,
        example={"model": "echo/echo", "alias": "parrot"},
    )


async def list_all(admin: AdminContext, request: Request) -> Response:
    """List every model of every provider, connected or not, without disabled ones."""
    # By provider and model id, because an alias may spell the prefix in several ways.
    aliases: dict[tuple[str, str], str] = {}
    for alias, name in admin.snapshot.aliases.items():
        prefix, _, model = name.partition("/")
        aliases.setdefault((admin.provider_id(prefix), model), alias)
    rows = (
        ModelRow(
            provider=provider,
            model=row.id,
            name=row.name or row.id,
            full_model=f"{admin.prefix(provider)}/{row.id}",
            alias=aliases.get((provider, row.id)),
            kind=row.kind,
        )
        for provider, models in admin.snapshot.models.items()
        for row in models
    )
    return json_answer(ModelRows(tuple(rows)))


async def list_aliases(admin: AdminContext, request: Request) -> Response:
    return json_answer(Aliases(admin.snapshot.aliases))


async def set_alias(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, AliasBody)
    model, alias = strip(body.model), strip(body.alias)
    if not model or not alias:
        raise BadRequest("Model and alias required")
    if len(alias) > MAX_NAME or "/" in alias or " " in alias or not alias.isprintable():
        raise BadRequest("Invalid alias: a name without slash or space is needed")
    async with admin.writing():
        check_alias(admin.snapshot, alias, model)
        before = {"model": admin.snapshot.aliases.get(alias)}
        await admin.audit_change(request, "alias.set", alias, before, {"model": model})
        await admin.stores.kv.put(ALIASES, {alias: model})
    return json_answer(Named(model=model, alias=alias))


def check_alias(snapshot: ConfigSnapshot, alias: str, model: str) -> None:
    """Raises BadRequest for a combo's name, or for a model that does not resolve."""
    if alias in snapshot.combos:
        raise BadRequest(f"A combo named {alias} already exists")
    # An alias never refers to another alias.
    plain = msgspec.structs.replace(snapshot, aliases={})
    try:
        resolve(plain, model)
    except NotAChatModel:
        pass  # Models of other kinds may have aliases too.
    except GatewayError as error:
        raise BadRequest(f"Invalid model: {error.message}") from None
    check_circles(msgspec.structs.replace(snapshot, aliases={**snapshot.aliases, alias: model}))


async def delete_alias(admin: AdminContext, request: Request) -> Response:
    alias = require_parameter(request, "alias")
    async with admin.writing():
        before = {"model": admin.snapshot.aliases.get(alias)}
        await admin.audit_change(request, "alias.delete", alias, before, None)
        await admin.stores.kv.delete(ALIASES, alias)
    return json_answer(Success())
