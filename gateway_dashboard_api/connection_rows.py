"""An account as it is shown: everything but its secrets."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from gateway_core.contracts.provider import Credential
from gateway_core.inference.redaction import host_and_port, texts, told
from gateway_core.storage.connection import PROVIDER_DATA, Connection

from .desk import Desk
from .destinations import PROXY_URL
from .probes.discovery import can_list

Row = dict[str, Any]
BROKEN = "The stored secret cannot be opened; delete this connection and make it anew"


def connection_row(desk: Desk, connection: Connection) -> Row:
    """A connection's record with what the gateway knows of it."""
    data = connection.data
    row: Row = {
        "testStatus": "unknown",
        PROVIDER_DATA: {},
        **data,
        "id": connection.id,
        "provider": connection.provider,
        "authType": connection.auth_type,
        "name": connection.name,
        "email": connection.email,
        "priority": connection.priority,
        "isActive": connection.is_active,
        "createdAt": connection.created_at,
        "updatedAt": connection.updated_at,
        "canDiscoverModels": _can_discover(desk, connection),
    }
    if isinstance(data.get("lastError"), str):
        row["lastError"] = told(data["lastError"], texts(connection.secrets))
    if connection.broken:
        row |= {"testStatus": "error", "lastError": BROKEN}
    return row


def row_for(desk: Desk, request: Request, connection: Connection) -> Row:
    """The record as this caller may see it."""
    shown = connection_row if desk.caller(request).is_operator else client_row
    return shown(desk, connection)


def client_row(desk: Desk, connection: Connection) -> Row:
    """The same for a list that more people see: proxies without user and password."""
    row = connection_row(desk, connection)
    data: Mapping[str, Any] = row[PROVIDER_DATA]
    if isinstance(data.get(PROXY_URL), str):
        row[PROVIDER_DATA] = {**data, PROXY_URL: host_and_port(data[PROXY_URL])}
    return row


def _can_discover(desk: Desk, connection: Connection) -> bool:
    spec = desk.spec(connection.provider)
    if spec is None:
        return False
    credential = Credential(connection_id=connection.id, data=connection.provider_data)
    return can_list(spec, desk.wire(spec), credential)
