"""Accounts at providers: list, create, show, change, order, delete (A.1)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import (
    BadRequest,
    Forbidden,
    NotFound,
    TransportError,
    UpstreamError,
)
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.snapshot import account_of
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection, ConnectionChange, DuplicateConnection
from gateway_core.storage.stores.secret_members import join
from gateway_core.upstream.redaction import redact, secrets_of

from ..admin_context import AdminContext
from ..answers import Message, Success
from ..destinations import permit_all
from ..endpoint import endpoint
from ..models.sync import sync_own_server
from ..pagination import page_of, pagination
from ..requests import read_json, read_query, strip
from .bodies import (
    ChangedConnectionBody,
    ConnectionBody,
    NewConnectionBody,
    OrderBody,
    PageQuery,
    PingBody,
    SuggestionQuery,
)
from .changes import build_change, build_connection, names_address, read_provider_data
from .owners import owner_of, stored_owner
from .probes.discovery import discover
from .probes.model_list import NotAList
from .views import (
    BROKEN,
    ConnectionAnswer,
    ConnectionPage,
    Connections,
    ConnectionShape,
    OneConnection,
    Suggestion,
    Suggestions,
    UpstreamModels,
    connection_row,
    connection_row_for,
    masked_connection_row,
)

PATH = "/api/providers"
SHOWN = ConnectionShape.__struct_encode_fields__
NAME_CONFLICT = "PROVIDER_CONNECTION_NAME_CONFLICT"
AUTO_PING = "autoPing"
MOST_SUGGESTED = 500


def routes(admin: AdminContext) -> list[Guarded]:
    one = PATH + "/{id}"
    return [
        endpoint(admin, "GET", PATH, list_connections, "list connections", answer=Connections),
        _create_route(admin, PATH),
        _create_route(admin, "/api/connections"),
        endpoint(
            admin,
            "GET",
            PATH + "/client",
            list_connection_page,
            "list connections",
            query=PageQuery,
            answer=ConnectionPage,
        ),
        endpoint(
            admin,
            "GET",
            PATH + "/suggested-models",
            suggest_models,
            "suggest models",
            query=SuggestionQuery,
            answer=Suggestions,
        ),
        endpoint(
            admin,
            "PUT",
            PATH + "/reorder",
            reorder_connections,
            "reorder connections",
            body=OrderBody,
            answer=Success,
            example={"provider": "openai", "ids": ["the-second", "the-first"]},
        ),
        endpoint(admin, "GET", one, show_connection, "read the connection", answer=OneConnection),
        _update_route(admin, "PUT", one),
        _update_route(admin, "PATCH", one),
        endpoint(admin, "DELETE", one, delete_connection, "delete the connection", answer=Message),
        endpoint(
            admin,
            "PATCH",
            one + "/auto-ping",
            set_auto_ping,
            "set the auto-ping",
            body=PingBody,
            answer=ConnectionAnswer,
            example={"enabled": True},
        ),
        endpoint(
            admin,
            "GET",
            one + "/models",
            list_upstream_models,
            "fetch the provider's models",
            answer=UpstreamModels,
        ),
    ]


def _create_route(admin: AdminContext, path: str) -> Guarded:
    return endpoint(
        admin,
        "POST",
        path,
        create_connection,
        "create the connection",
        body=NewConnectionBody,
        answer=OneConnection,
        status=201,
        example={"provider": "openai", "name": "work", "apiKey": "sk-..."},
    )


def _update_route(admin: AdminContext, method: str, path: str) -> Guarded:
    return endpoint(
        admin,
        method,
        path,
        update_connection,
        "update the connection",
        body=ChangedConnectionBody,
        answer=OneConnection,
        example={"name": "work", "priority": 1, "isActive": True},
    )


async def list_connections(admin: AdminContext, request: Request) -> Response:
    stored = await admin.stores.connections.list()
    return json_answer(
        {"connections": [connection_row_for(admin, request, each) for each in stored]}
    )


async def list_connection_page(admin: AdminContext, request: Request) -> Response:
    """Show a page of the list; proxies without user and password."""
    parameters = read_query(request, PageQuery)
    page, size = parameters.page, parameters.page_size
    provider = parameters.provider and admin.provider_id(parameters.provider)
    term = parameters.search.strip().lower()
    matches = [
        each
        for each in await admin.stores.connections.list(provider)
        if any(term in (text or "").lower() for text in (each.name, each.email, each.provider))
    ]
    rows = [masked_connection_row(admin, each) for each in page_of(matches, page, size)]
    return json_answer({"connections": rows, "pagination": pagination(page, size, len(matches))})


async def create_connection(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, NewConnectionBody, ignored=SHOWN)
    if not strip(body.provider):
        raise BadRequest("Invalid provider")
    check_address(admin, request, body)
    owner = await owner_of(admin, strip(body.provider))
    data = read_provider_data(body, owner, admin.snapshot.pools)
    new = build_connection(body, owner, data)
    await permit_all(admin.core.network, owner.own(data))
    async with admin.writing():
        await admin.audit_change(request, "connection.create", new.name, None, new)
        try:
            connection = await admin.stores.connections.create(new)
        except DuplicateConnection as error:
            if body.create_only:
                error.code = NAME_CONFLICT
            raise
    await sync_own_server(admin, connection.provider)
    return json_answer({"connection": connection_row_for(admin, request, connection)}, 201)


def check_address(admin: AdminContext, request: Request, body: ConnectionBody) -> None:
    """Raises Forbidden for an API key, which may not choose where calls go."""
    if names_address(body) and not admin.caller(request).is_operator:
        raise Forbidden("An API key may not set a connection's address or proxy")


async def show_connection(admin: AdminContext, request: Request) -> Response:
    connection = await connection_of(admin, request.path_params["id"])
    return json_answer({"connection": connection_row_for(admin, request, connection)})


async def update_connection(admin: AdminContext, request: Request) -> Response:
    connection = await connection_of(admin, request.path_params["id"])
    body = await read_json(
        request, ChangedConnectionBody, ignored=connection_row(admin, connection)
    )
    check_address(admin, request, body)
    owner = await stored_owner(admin, connection.provider)
    data = read_provider_data(body, owner, admin.snapshot.pools)
    await permit_all(admin.core.network, owner.own(data))
    async with admin.writing():
        # Read again: the row may have changed while the addresses were resolved.
        before = await connection_of(admin, connection.id)
        changes = build_change(before, body, owner, data, iso(admin.core.clock()))
        await admin.audit_change(request, "connection.update", before.id, shown(before), changes)
        after = await admin.stores.connections.update(connection.id, changes)
    if strip(body.api_key) or body.is_active is True:
        admin.core.cooldowns.clear([connection.id], EVERY_MODEL)
    return json_answer({"connection": connection_row_for(admin, request, after)})


async def delete_connection(admin: AdminContext, request: Request) -> Response:
    identity = request.path_params["id"]
    async with admin.writing():
        before = shown(await connection_of(admin, identity))
        await admin.audit_change(request, "connection.delete", identity, before, None)
        await admin.stores.connections.delete(identity)
    admin.core.cooldowns.clear([identity], EVERY_MODEL)
    return json_answer(Message("Connection deleted successfully"))


async def reorder_connections(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, OrderBody)
    ids = next((x for x in (body.ids, body.ordered_ids, body.connection_ids) if x is not None), ())
    if not body.provider or not ids:
        raise BadRequest("provider and ids are required")
    async with admin.writing():
        provider = admin.provider_id(body.provider)
        before = [each.id for each in await admin.stores.connections.list(provider)]
        await admin.audit_change(
            request, "connection.reorder", provider, {"order": before}, {"order": list(ids)}
        )
        await admin.stores.connections.reorder(provider, ids)
    return json_answer(Success())


async def connection_of(admin: AdminContext, identity: str) -> Connection:
    """Return a stored account. Raises NotFound."""
    connection = await admin.stores.connections.get(identity)
    if connection is None:
        raise NotFound("Connection not found")
    return connection


def shown(connection: Connection) -> dict[str, Any]:
    """An account for the audit trail, its data and secrets together as changes have them."""
    return {
        "name": connection.name,
        "email": connection.email,
        "provider": connection.provider,
        "authType": connection.auth_type,
        "priority": connection.priority,
        "isActive": connection.is_active,
        "data": join(connection.data, connection.secrets),
    }


async def list_upstream_models(admin: AdminContext, request: Request) -> Response:
    connection = await connection_of(admin, request.path_params["id"])
    if connection.broken:
        raise BadRequest(BROKEN)
    spec = admin.spec(connection.provider)
    snapshot = admin.snapshot
    account = account_of(
        connection, snapshot.settings, snapshot.pools, spec=spec, proxy=snapshot.proxy
    )
    models = None
    if spec is not None:
        try:
            models = await discover(admin.core, spec, admin.wire(spec), account)
        except UpstreamError as error:
            text = redact(error.message, secrets_of(account.credential))
            if isinstance(error, TransportError | NotAList):
                raise UpstreamError(text, status=error.status, code=error.code) from error
            # The vendor's own status, such as 401, must not look like one of this gateway's.
            raise UpstreamError(f"The provider answered {error.status}: {text}") from error
    if models is None:
        raise BadRequest(f"Provider {connection.provider} does not support listing its models")
    return json_answer(
        UpstreamModels(provider=connection.provider, connection_id=connection.id, models=models)
    )


async def set_auto_ping(admin: AdminContext, request: Request) -> Response:
    """Store whether to keep the account warm; in this version nothing reads it."""
    body = await read_json(request, PingBody)
    identity = request.path_params["id"]
    change = ConnectionChange(data={AUTO_PING: body.enabled})
    async with admin.writing():
        before = shown(await connection_of(admin, identity))
        await admin.audit_change(request, "connection.update", identity, before, change)
        after = await admin.stores.connections.update(identity, change)
    return json_answer({"connection": connection_row_for(admin, request, after)})


async def suggest_models(admin: AdminContext, request: Request) -> Response:
    """List the models that a provider's plugin knows, without a network request."""
    owner = await owner_of(admin, read_query(request, SuggestionQuery).type)
    rows = () if owner.spec is None else owner.spec.models
    suggestions = tuple(
        Suggestion(
            id=row.id,
            name=row.name or row.id,
            kind=str(row.kind),
            context_length=row.context,
        )
        for row in rows[:MOST_SUGGESTED]
    )
    return json_answer(Suggestions(data=suggestions))
