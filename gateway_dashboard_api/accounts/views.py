"""How accounts are shown: everything but their secrets."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request

from gateway_administration.stores.connection_groups import ConnectionGroup
from gateway_core.contracts.provider import Credential
from gateway_core.storage.stores.connection import PROVIDER_DATA, Connection
from gateway_core.storage.stores.secret_members import is_sealed
from gateway_core.upstream.redaction import redact, texts

from ..admin_context import AdminContext
from ..destinations import host_and_port
from ..pagination import Pagination
from .bodies import TestStatus
from .probes.discovery import can_list
from .probes.findings import Diagnosis
from .probes.model_list import Listed


class ConnectionShape(Struct, frozen=True, kw_only=True, rename="camel"):
    """An account without its secrets, with whatever else is known of it."""

    id: str
    provider: str
    auth_type: str
    name: str | None
    email: str | None
    priority: int
    is_active: bool
    test_status: TestStatus
    provider_specific_data: dict[str, Any]
    can_discover_models: bool
    created_at: str
    updated_at: str


class OneConnection(Struct, frozen=True):
    connection: ConnectionShape


class Connections(Struct, frozen=True):
    connections: tuple[ConnectionShape, ...]


class ConnectionPage(Struct, frozen=True):
    connections: tuple[ConnectionShape, ...]
    pagination: Pagination


class Validity(Struct, frozen=True, kw_only=True):
    valid: bool
    error: str | None


class ConnectionTest(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a vendor said to an account."""

    valid: bool
    error: str | None
    refreshed: bool = False
    latency_ms: int
    status_code: int | None
    diagnosis: Diagnosis


class BatchedTest(Struct, frozen=True, kw_only=True, rename="camel"):
    """The same, for one of many accounts."""

    provider: str
    connection_id: str
    connection_name: str | None
    auth_type: str
    valid: bool
    latency_ms: int
    error: str | None
    diagnosis: Diagnosis
    status_code: int | None
    tested_at: str


class BatchSummary(Struct, frozen=True, kw_only=True):
    total: int
    passed: int
    failed: int


class ConnectionBatch(Struct, frozen=True, kw_only=True, rename="camel"):
    mode: str | None
    provider_id: str | None
    results: tuple[BatchedTest, ...]
    tested_at: str
    summary: BatchSummary


class UpstreamModels(Struct, frozen=True, kw_only=True, rename="camel"):
    provider: str
    connection_id: str
    models: tuple[Listed, ...]


Row = dict[str, Any]
BROKEN = "The stored secret cannot be opened; delete this connection and create it again"


def connection_row(admin: AdminContext, connection: Connection) -> Row:
    """Render a connection's record with what the gateway knows about it."""
    data, spec = connection.data, admin.spec(connection.provider)
    credential = Credential(connection_id=connection.id, data=connection.provider_data)
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
        "canDiscoverModels": spec is not None and can_list(spec, admin.wire(spec), credential),
    }
    if isinstance(data.get("lastError"), str):
        row["lastError"] = redact(data["lastError"], texts(connection.secrets))
    if connection.broken:
        row |= {"testStatus": "error", "lastError": BROKEN}
    return row


def connection_row_for(admin: AdminContext, request: Request, connection: Connection) -> Row:
    """Render the record as this caller may see it."""
    render = connection_row if admin.caller(request).is_operator else masked_connection_row
    return render(admin, connection)


def masked_connection_row(admin: AdminContext, connection: Connection) -> Row:
    """Render the record with proxies that show no user and password."""
    row = connection_row(admin, connection)
    row[PROVIDER_DATA] = _masked(row[PROVIDER_DATA])
    return row


def _masked(value: Any, name: str = "") -> Any:
    """Remove user and password from every proxy's address, at any depth."""
    if isinstance(value, Mapping):
        return {member: _masked(inner, member) for member, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, name) for inner in value]
    is_address = isinstance(value, str) and value and is_sealed(name)
    return host_and_port(value) if is_address else value


class GroupList(Struct, frozen=True, kw_only=True):
    groups: tuple[ConnectionGroup, ...]


class MemberList(Struct, frozen=True, kw_only=True, rename="camel"):
    connection_ids: tuple[str, ...]


class TestedModel(Struct, frozen=True, kw_only=True, rename="camel"):
    model: str
    kind: str | None
    ok: bool
    latency_ms: int
    error: str | None
    status: int


class TestedModels(Struct, frozen=True, kw_only=True):
    results: tuple[TestedModel, ...]


class ConnectionAnswer(Struct, frozen=True, kw_only=True):
    connection: dict[str, Any]


class Suggestion(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    id: str
    name: str
    kind: str
    context_length: int | None = None
    """Tokens."""


class Suggestions(Struct, frozen=True, kw_only=True):
    data: tuple[Suggestion, ...]
