"""An account as it is shown: everything but its secrets."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from gateway_core.contracts.provider import Credential
from gateway_core.storage.stores.connection import PROVIDER_DATA, Connection
from gateway_core.storage.stores.secret_members import is_sealed
from gateway_core.upstream.redaction import host_and_port, redact, texts

from .desk import AdminContext
from .probes.discovery import can_list

Row = dict[str, Any]
BROKEN = "The stored secret cannot be opened; delete this connection and make it anew"


def connection_row(admin: AdminContext, connection: Connection) -> Row:
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
        "canDiscoverModels": _can_discover(admin, connection),
    }
    if isinstance(data.get("lastError"), str):
        row["lastError"] = redact(data["lastError"], texts(connection.secrets))
    if connection.broken:
        row |= {"testStatus": "error", "lastError": BROKEN}
    return row


def row_for(admin: AdminContext, request: Request, connection: Connection) -> Row:
    """The record as this caller may see it."""
    shown = connection_row if admin.caller(request).is_operator else client_row
    return shown(admin, connection)


def client_row(admin: AdminContext, connection: Connection) -> Row:
    """The same for a list that more people see: proxies without user and password."""
    row = connection_row(admin, connection)
    row[PROVIDER_DATA] = _masked(row[PROVIDER_DATA])
    return row


def _masked(value: Any, name: str = "") -> Any:
    """The same with every proxy's address without user and password, however deep."""
    if isinstance(value, Mapping):
        return {member: _masked(inner, member) for member, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, name) for inner in value]
    is_address = isinstance(value, str) and value and is_sealed(name)
    return host_and_port(value) if is_address else value


def _can_discover(admin: AdminContext, connection: Connection) -> bool:
    spec = admin.spec(connection.provider)
    if spec is None:
        return False
    credential = Credential(connection_id=connection.id, data=connection.provider_data)
    return can_list(spec, admin.wire(spec), credential)
