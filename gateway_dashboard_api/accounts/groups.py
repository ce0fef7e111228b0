"""Named sets of accounts: list, create, change, delete, and their members (A.3)."""

from functools import partial

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.connection_groups import ConnectionGroup
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, strip
from .bodies import GroupBody, MemberBody
from .views import GroupList, MemberList

PATH = "/api/connection-groups"
LONGEST_NAME = 200
LARGEST_MEMBER = 8 * 1024
"""Bytes of a body that names one member."""
SHOWN = ConnectionGroup.__struct_encode_fields__
MEMBER = {"connectionId": "an account's id"}


def routes(admin: AdminContext) -> list[Guarded]:
    one, members = PATH + "/{id}", PATH + "/{id}/members"
    group = partial(endpoint, admin, answer=ConnectionGroup)
    write = partial(group, body=GroupBody, example={"name": "Work", "connectionIds": []})
    member = partial(endpoint, admin, body=MemberBody, example=MEMBER)
    done = dict[str, bool]
    return [
        endpoint(admin, "GET", PATH, list_all, "list connection groups", answer=GroupList),
        write("POST", PATH, create, "create the connection group", status=201),
        group("GET", one, show, "read the connection group"),
        write("PUT", one, update, "update the connection group"),
        endpoint(admin, "DELETE", one, delete, "delete the connection group", answer=done),
        endpoint(
            admin, "GET", members, list_members, "list the group's members", answer=MemberList
        ),
        member("POST", members, add, "add the member", answer=ConnectionGroup),
        member("DELETE", members, remove, "remove the member", answer=done),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    return json_answer(GroupList(groups=await admin.own_stores.connection_groups.list()))


async def create(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, GroupBody, ignored=SHOWN)
    name = _name(body)
    async with admin.writing():
        after = {"name": name, "connectionIds": body.connection_ids or ()}
        await admin.audit_change(request, "connection-group.create", name, None, after)
        group = await admin.own_stores.connection_groups.create(name, body.connection_ids or ())
    return json_answer(group, 201)


def _name(body: GroupBody) -> str:
    """Raises BadRequest."""
    name = strip(body.name)
    if not name or len(name) > LONGEST_NAME:
        raise BadRequest("Name is required" if not name else "The name is too long")
    return name


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(await group_of(admin, request.path_params["id"]))


async def update(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, GroupBody, ignored=SHOWN)
    name = UNSET if body.name is UNSET else _name(body)
    ids = UNSET if body.connection_ids is UNSET else body.connection_ids or ()
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        changes = {"name": name, "connectionIds": ids}
        set_ = {member: value for member, value in changes.items() if value is not UNSET}
        await admin.audit_change(request, "connection-group.update", before.id, before, set_)
        after = await admin.own_stores.connection_groups.update(before.id, name, ids)
    return json_answer(after)


async def delete(admin: AdminContext, request: Request) -> Response:
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        await admin.audit_change(request, "connection-group.delete", before.id, before, None)
        await admin.own_stores.connection_groups.delete(before.id)
    return json_answer({"success": True})


async def list_members(admin: AdminContext, request: Request) -> Response:
    group = await group_of(admin, request.path_params["id"])
    return json_answer(MemberList(connection_ids=group.connection_ids))


async def add(admin: AdminContext, request: Request) -> Response:
    member = await _member(request)
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        members = {"connectionIds": [*before.connection_ids, member]}
        await admin.audit_change(request, "connection-group.update", before.id, before, members)
        after = await admin.own_stores.connection_groups.add(before.id, member)
    return json_answer(after)


async def remove(admin: AdminContext, request: Request) -> Response:
    member = await _member(request)
    async with admin.writing():
        before = await group_of(admin, request.path_params["id"])
        members = {"connectionIds": [each for each in before.connection_ids if each != member]}
        await admin.audit_change(request, "connection-group.update", before.id, before, members)
        await admin.own_stores.connection_groups.remove(before.id, member)
    return json_answer({"removed": True})


async def _member(request: Request) -> str:
    """Raises BadRequest, BodyTooLarge."""
    member = strip((await read_json(request, MemberBody, LARGEST_MEMBER)).connection_id)
    if not member:
        raise BadRequest("connectionId is required")
    return member


async def group_of(admin: AdminContext, identity: str) -> ConnectionGroup:
    """Return a stored group. Raises NotFound."""
    group = await admin.own_stores.connection_groups.get(identity)
    if group is None:
        raise NotFound("Connection group not found")
    return group
