"""Combos: list, create, show, change, delete (A.3)."""

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.combos import ComboChange
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.combos import Combo

from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from ..renaming import ComboRenaming, renamed
from ..requests import read_json
from .bodies import ComboBody, read_change
from .checks import check
from .views import ChangedCombo, Combos, changed_combo

PATH = "/api/combos"
EXAMPLE = {"name": "helpful", "models": ["echo/echo", "echo/echo-tools"]}
SHOWN = ChangedCombo.__struct_encode_fields__


def routes(admin: AdminContext) -> list[Guarded]:
    one = PATH + "/{id}"
    return [
        endpoint(admin, "GET", PATH, list_all, "list combos", answer=Combos),
        endpoint(
            admin,
            "POST",
            PATH,
            create,
            "create the combo",
            body=ComboBody,
            answer=Combo,
            status=201,
            example=EXAMPLE,
        ),
        endpoint(admin, "GET", one, show, "read the combo", answer=Combo),
        endpoint(
            admin,
            "PUT",
            one,
            update,
            "update the combo",
            body=ComboBody,
            answer=ChangedCombo,
            example={"models": EXAMPLE["models"]},
        ),
        endpoint(admin, "DELETE", one, delete, "delete the combo", answer=Success),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    return json_answer(Combos(tuple(await admin.stores.combos.list())))


async def create(admin: AdminContext, request: Request) -> Response:
    change = read_change(await read_json(request, ComboBody, ignored=SHOWN))
    if not change.name:
        raise BadRequest("Name is required")
    async with admin.writing():
        draft = Combo(id="", name="", created_at="", updated_at="")
        check(admin.snapshot, _apply(draft, change))
        await admin.audit_change(request, "combo.create", change.name, None, change)
        combo = await admin.own_stores.combos.create(change)
    return json_answer(combo, 201)


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(await combo_of(admin, request.path_params["id"]))


async def update(admin: AdminContext, request: Request) -> Response:
    change = read_change(await read_json(request, ComboBody, ignored=SHOWN))
    identity = request.path_params["id"]
    async with admin.writing():
        before = await combo_of(admin, identity)
        if change.models is not UNSET and change.members is UNSET and before.members is not None:
            # Weights and pinned accounts of models that are removed go with them.
            models = change.models
            kept = tuple(fact for fact in before.members if fact.get("model") in models)
            change = msgspec.structs.replace(change, members=kept or None)
        renaming, snapshot = None, admin.snapshot
        if change.name is not UNSET and change.name != before.name:
            renaming = ComboRenaming(before=before.name, after=change.name)
            snapshot = renamed(snapshot, renaming)
        check(snapshot, _apply(before, change), before)
        await admin.audit_change(request, "combo.update", identity, before, change)
        after, rewritten = await admin.own_stores.combos.update(identity, change, renaming)
    return json_answer(changed_combo(after, rewritten))


async def delete(admin: AdminContext, request: Request) -> Response:
    """Delete a combo and its strategy; combos that contain it skip it."""
    async with admin.writing():
        before = await combo_of(admin, request.path_params["id"])
        await admin.audit_change(request, "combo.delete", before.id, before, None)
        await admin.own_stores.combos.delete(before.id)
    return json_answer(Success())


async def combo_of(admin: AdminContext, identity: str) -> Combo:
    """Return a stored combo. Raises NotFound."""
    combo = await admin.stores.combos.get(identity)
    if combo is None:
        raise NotFound("Combo not found")
    return combo


def _apply(before: Combo, change: ComboChange) -> Combo:
    """Return the combo after a change."""
    fields = {name: getattr(change, name) for name in change.__struct_fields__}
    changes = {name: value for name, value in fields.items() if value is not UNSET}
    return msgspec.structs.replace(before, **changes)
