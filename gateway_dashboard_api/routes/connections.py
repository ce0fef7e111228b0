"""Accounts at providers: list, make, show, change, order, delete (A.1)."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.inference.health import EVERY_MODEL
from gateway_core.storage.connection import Connection, DuplicateConnection
from gateway_core.storage.moments import iso
from gateway_core.surfaces.answers import json_answer

from ..bodies import (
    NewConnectionBody,
    read_changed_connection,
    read_new_connection,
    read_order,
    said,
)
from ..connection_changes import change, new_connection, provider_data
from ..connection_rows import client_row, connection_row
from ..desk import Desk
from ..destinations import permit_all
from ..endpoint import endpoint
from ..owners import owner_of, stored_owner
from ..requests import number, read

PATH = "/api/providers"
NAME_CONFLICT = "PROVIDER_CONNECTION_NAME_CONFLICT"
PAGE_SIZE = 20
LARGEST_PAGE = 100
MOST_PAGES = 1_000_000


def routes(desk: Desk) -> list[BaseRoute]:
    one = PATH + "/{id}"
    return [
        endpoint(desk, "GET", PATH, list_all, "list connections"),
        endpoint(desk, "POST", PATH, create, "create the connection"),
        endpoint(desk, "POST", "/api/connections", create, "create the connection"),
        endpoint(desk, "GET", PATH + "/client", list_page, "list connections"),
        endpoint(desk, "PUT", PATH + "/reorder", reorder, "reorder connections"),
        endpoint(desk, "GET", one, show, "read the connection"),
        endpoint(desk, "PUT", one, update, "update the connection"),
        endpoint(desk, "PATCH", one, update, "update the connection"),
        endpoint(desk, "DELETE", one, delete, "delete the connection"),
    ]


async def list_all(desk: Desk, request: Request) -> Response:
    stored = await desk.stores.connections.list()
    return json_answer({"connections": [connection_row(desk, each) for each in stored]})


async def list_page(desk: Desk, request: Request) -> Response:
    """A part of the list; proxies are shown without user and password."""
    page = number(request, "page", 1, least=1, most=MOST_PAGES)
    size = number(request, "pageSize", PAGE_SIZE, least=1, most=LARGEST_PAGE)
    provider = request.query_params.get("provider") or None
    stored = await desk.stores.connections.list(provider and desk.provider_id(provider))
    found = _matching(stored, request.query_params.get("search", ""))
    shown = found[(page - 1) * size : page * size]
    pages = -(-len(found) // size)
    pagination = {
        "page": page,
        "pageSize": size,
        "totalItems": len(found),
        "totalPages": pages,
        "hasNext": page < pages,
        "hasPrev": page > 1,
    }
    rows = [client_row(desk, each) for each in shown]
    return json_answer({"connections": rows, "pagination": pagination})


def _matching(connections: Iterable[Connection], search: str) -> list[Connection]:
    wanted = search.strip().lower()
    return [
        each
        for each in connections
        if any(wanted in (text or "").lower() for text in (each.name, each.email, each.provider))
    ]


async def create(desk: Desk, request: Request) -> Response:
    body = await read(request, read_new_connection)
    if not said(body.provider):
        raise BadRequest("Invalid provider")
    owner = await owner_of(desk, said(body.provider))
    data = provider_data(body, owner)
    new = new_connection(body, owner, data)
    await permit_all(desk.core.network, owner.own(data))
    async with desk.writing():
        try:
            made = await desk.stores.connections.create(new)
        except DuplicateConnection as error:
            raise _worded(error, body) from error
    return json_answer({"connection": connection_row(desk, made)}, 201)


def _worded(error: DuplicateConnection, body: NewConnectionBody) -> DuplicateConnection:
    if body.create_only:
        error.code = NAME_CONFLICT
    return error


async def show(desk: Desk, request: Request) -> Response:
    found = await connection_of(desk, request.path_params["id"])
    return json_answer({"connection": connection_row(desk, found)})


async def update(desk: Desk, request: Request) -> Response:
    body = await read(request, read_changed_connection)
    found = await connection_of(desk, request.path_params["id"])
    owner = await stored_owner(desk, found.provider)
    data = provider_data(body, owner)
    await permit_all(desk.core.network, owner.own(data))
    async with desk.writing():
        # Read again: somebody else may have written while the addresses were looked up.
        before = await connection_of(desk, found.id)
        wanted = change(before, body, owner, data, iso(desk.core.clock()))
        after = await desk.stores.connections.update(found.id, wanted)
    if said(body.api_key) or body.is_active is True:
        desk.core.health.clear([found.id], EVERY_MODEL)
    return json_answer({"connection": connection_row(desk, after)})


async def delete(desk: Desk, request: Request) -> Response:
    identity = request.path_params["id"]
    async with desk.writing():
        await desk.stores.connections.delete(identity)
    desk.core.health.clear([identity], EVERY_MODEL)
    return json_answer({"message": "Connection deleted successfully"})


async def reorder(desk: Desk, request: Request) -> Response:
    body = await read(request, read_order)
    ids = next((x for x in (body.ids, body.ordered_ids, body.connection_ids) if x is not None), ())
    if not body.provider or not ids:
        raise BadRequest("provider and ids are required")
    async with desk.writing():
        await desk.stores.connections.reorder(desk.provider_id(body.provider), ids)
    return json_answer({"success": True})


async def connection_of(desk: Desk, identity: str) -> Connection:
    """A stored account. Raises NotFound."""
    found = await desk.stores.connections.get(identity)
    if found is None:
        raise NotFound("Connection not found")
    return found
