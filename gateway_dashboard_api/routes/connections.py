"""Accounts at providers: list, make, show, change, order, delete (A.1)."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, Forbidden, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection, DuplicateConnection

from ..answers import (
    ConnectionPage,
    Connections,
    ConnectionShape,
    Message,
    OneConnection,
    PagePlace,
    Success,
)
from ..bodies import (
    ChangedConnectionBody,
    ConnectionBody,
    NewConnectionBody,
    OrderBody,
    read_changed_connection,
    read_new_connection,
    read_order,
    said,
)
from ..connection_changes import change, names_address, new_connection, provider_data
from ..connection_rows import client_row, connection_row, row_for
from ..desk import Desk
from ..destinations import permit_all
from ..endpoint import endpoint
from ..owners import owner_of, stored_owner
from ..requests import query, read

PATH = "/api/providers"
SHOWN = ConnectionShape.__struct_encode_fields__
NAME_CONFLICT = "PROVIDER_CONNECTION_NAME_CONFLICT"
PAGE_SIZE = 20
LARGEST_PAGE = 100
MOST_PAGES = 1_000_000


class PageQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """``search`` is looked for in names, addresses and providers."""

    page: Annotated[int, Meta(ge=1, le=MOST_PAGES)] = 1
    page_size: Annotated[int, Meta(ge=1, le=LARGEST_PAGE)] = PAGE_SIZE
    provider: str | None = None
    search: str = ""


def routes(desk: Desk) -> list[Guarded]:
    one = PATH + "/{id}"
    return [
        endpoint(desk, "GET", PATH, list_all, "list connections", answer=Connections),
        _making(desk, PATH),
        _making(desk, "/api/connections"),
        endpoint(
            desk,
            "GET",
            PATH + "/client",
            list_page,
            "list connections",
            query=PageQuery,
            answer=ConnectionPage,
        ),
        endpoint(
            desk,
            "PUT",
            PATH + "/reorder",
            reorder,
            "reorder connections",
            body=OrderBody,
            answer=Success,
            example={"provider": "openai", "ids": ["the-second", "the-first"]},
        ),
        endpoint(desk, "GET", one, show, "read the connection", answer=OneConnection),
        _changing(desk, "PUT", one),
        _changing(desk, "PATCH", one),
        endpoint(desk, "DELETE", one, delete, "delete the connection", answer=Message),
    ]


def _making(desk: Desk, path: str) -> Guarded:
    return endpoint(
        desk,
        "POST",
        path,
        create,
        "create the connection",
        body=NewConnectionBody,
        answer=OneConnection,
        status=201,
        example={"provider": "openai", "name": "work", "apiKey": "sk-..."},
    )


def _changing(desk: Desk, method: str, path: str) -> Guarded:
    return endpoint(
        desk,
        method,
        path,
        update,
        "update the connection",
        body=ChangedConnectionBody,
        answer=OneConnection,
        example={"name": "work", "priority": 1, "isActive": True},
    )


async def list_all(desk: Desk, request: Request) -> Response:
    stored = await desk.stores.connections.list()
    return json_answer({"connections": [row_for(desk, request, each) for each in stored]})


async def list_page(desk: Desk, request: Request) -> Response:
    """A part of the list; proxies are shown without user and password."""
    asked = query(request, PageQuery)
    page, size = asked.page, asked.page_size
    provider = asked.provider and desk.provider_id(asked.provider)
    found = _matching(await desk.stores.connections.list(provider), asked.search)
    shown = found[(page - 1) * size : page * size]
    pages = -(-len(found) // size)
    place = PagePlace(
        page=page,
        page_size=size,
        total_items=len(found),
        total_pages=pages,
        has_next=page < pages,
        has_prev=page > 1,
    )
    rows = [client_row(desk, each) for each in shown]
    return json_answer({"connections": rows, "pagination": place})


def _matching(connections: Iterable[Connection], search: str) -> list[Connection]:
    wanted = search.strip().lower()
    return [
        each
        for each in connections
        if any(wanted in (text or "").lower() for text in (each.name, each.email, each.provider))
    ]


async def create(desk: Desk, request: Request) -> Response:
    body = await read(request, read_new_connection, shown=SHOWN)
    if not said(body.provider):
        raise BadRequest("Invalid provider")
    check_address(desk, request, body)
    owner = await owner_of(desk, said(body.provider))
    data = provider_data(body, owner, desk.tables.pools)
    new = new_connection(body, owner, data)
    await permit_all(desk.core.network, owner.own(data))
    async with desk.writing():
        try:
            made = await desk.stores.connections.create(new)
        except DuplicateConnection as error:
            raise _worded(error, body) from error
    return json_answer({"connection": row_for(desk, request, made)}, 201)


def check_address(desk: Desk, request: Request, body: ConnectionBody) -> None:
    """Raises Forbidden for an API key that would say where calls go."""
    if names_address(body) and not desk.caller(request).is_operator:
        raise Forbidden("An API key may not set a connection's address or proxy")


def _worded(error: DuplicateConnection, body: NewConnectionBody) -> DuplicateConnection:
    if body.create_only:
        error.code = NAME_CONFLICT
    return error


async def show(desk: Desk, request: Request) -> Response:
    found = await connection_of(desk, request.path_params["id"])
    return json_answer({"connection": row_for(desk, request, found)})


async def update(desk: Desk, request: Request) -> Response:
    found = await connection_of(desk, request.path_params["id"])
    body = await read(request, read_changed_connection, shown=connection_row(desk, found))
    check_address(desk, request, body)
    owner = await stored_owner(desk, found.provider)
    data = provider_data(body, owner, desk.tables.pools)
    await permit_all(desk.core.network, owner.own(data))
    async with desk.writing():
        # Read again: somebody else may have written while the addresses were looked up.
        before = await connection_of(desk, found.id)
        wanted = change(before, body, owner, data, iso(desk.core.clock()))
        after = await desk.stores.connections.update(found.id, wanted)
    if said(body.api_key) or body.is_active is True:
        desk.core.health.clear([found.id], EVERY_MODEL)
    return json_answer({"connection": row_for(desk, request, after)})


async def delete(desk: Desk, request: Request) -> Response:
    identity = request.path_params["id"]
    async with desk.writing():
        await desk.stores.connections.delete(identity)
    desk.core.health.clear([identity], EVERY_MODEL)
    return json_answer(Message("Connection deleted successfully"))


async def reorder(desk: Desk, request: Request) -> Response:
    body = await read(request, read_order)
    ids = next((x for x in (body.ids, body.ordered_ids, body.connection_ids) if x is not None), ())
    if not body.provider or not ids:
        raise BadRequest("provider and ids are required")
    async with desk.writing():
        await desk.stores.connections.reorder(desk.provider_id(body.provider), ids)
    return json_answer(Success())


async def connection_of(desk: Desk, identity: str) -> Connection:
    """A stored account. Raises NotFound."""
    found = await desk.stores.connections.get(identity)
    if found is None:
        raise NotFound("Connection not found")
    return found
