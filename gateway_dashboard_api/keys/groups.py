"""Key groups: labels for gateway keys, which change nothing about what a key may call (A.3)."""

import re
from functools import partial

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.key_groups import KeyGroup, KeyGroupChange
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from ..requests import read_json
from .bodies import KeyGroupBody, check_name
from .views import Group, Groups

PATH = "/api/key-groups"
ONE = PATH + "/{id}"
EXAMPLE = {"name": "team", "color": "#3366cc"}
SHOWN = KeyGroup.__struct_encode_fields__
_COLOR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z][A-Za-z0-9-]{0,31}")


def routes(admin: AdminContext) -> list[Guarded]:
    route = partial(endpoint, admin, access=Access.OPERATOR)
    change = partial(route, body=KeyGroupBody, answer=Group, example=EXAMPLE)
    return [
        route("GET", PATH, list_all, "list key groups", answer=Groups),
        change("POST", PATH, create, "create the key group", status=201),
        route("GET", ONE, show, "read the key group", answer=Group),
        change("PUT", ONE, update, "update the key group"),
        route("DELETE", ONE, delete, "delete the key group", answer=Success),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    return json_answer(Groups(await admin.own_stores.key_groups.list()))


async def create(admin: AdminContext, request: Request) -> Response:
    change = _change(await read_json(request, KeyGroupBody, ignored=SHOWN))
    if change.name is UNSET:
        raise BadRequest("Name is required")
    async with admin.writing():
        await admin.audit_change(request, "key-group.create", change.name, None, change)
        group = await admin.own_stores.key_groups.create(change)
    return json_answer(Group(group), 201)


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(Group(await group_of(admin, request.path_params["id"])))


async def group_of(admin: AdminContext, identity: str) -> KeyGroup:
    """Return a stored group. Raises NotFound."""
    group = await admin.own_stores.key_groups.get(identity)
    if group is None:
        raise NotFound("Key group not found")
    return group


async def update(admin: AdminContext, request: Request) -> Response:
    change = _change(await read_json(request, KeyGroupBody, ignored=SHOWN))
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        await admin.audit_change(request, "key-group.update", before.id, before, change)
        after = await admin.own_stores.key_groups.update(before.id, change)
    return json_answer(Group(after))


async def delete(admin: AdminContext, request: Request) -> Response:
    """Delete a label; keys that had it do not change otherwise."""
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        await admin.audit_change(request, "key-group.delete", before.id, before, None)
        await admin.own_stores.key_groups.delete(before.id)
    return json_answer(Success())


def _change(body: KeyGroupBody) -> KeyGroupChange:
    color = body.color
    if isinstance(color, str):
        color = color.strip() or None
        if color and not _COLOR.fullmatch(color):
            raise BadRequest("Invalid color: a name, or # with hexadecimal digits, is needed")
    return KeyGroupChange(
        name=UNSET if body.name is UNSET else check_name(body.name),
        color=color,
        key_ids=body.key_ids,
    )
