"""The tools, each as the calls of the management API that it makes (facts: Q.1)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import BadRequest, NotFound

from .management_calls import ManagementCall

Call = Callable[[ManagementCall], Awaitable[Any]]
Period = Literal["today", "24h", "7d", "30d", "60d", "90d", "180d", "365d", "all"]
CONNECTIONS, COMBOS = "/api/providers", "/api/combos"
DAYS: Mapping[str, int] = {"90d": 90, "180d": 180, "365d": 365}
"""Periods that the route has no name for."""


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """No arguments."""


class ConnectionSwitch(Arguments, frozen=True):
    connection_id: str
    is_active: bool


class ProviderSwitch(Arguments, frozen=True):
    provider_id: str
    is_active: bool


class PeriodArguments(Arguments, frozen=True):
    period: Period = "7d"


class KindArguments(Arguments, frozen=True):
    kinds: tuple[str, ...] = ()


class ComboArguments(Arguments, frozen=True):
    id: str


class QuotaArguments(Arguments, frozen=True):
    provider: str | None = None
    connection_id: str | None = None
    include_stale: bool = False


class ConnectionArguments(Arguments, frozen=True):
    connection_id: str


class SettingsArguments(Arguments, frozen=True):
    settings: dict[str, Any]


class Tool(Struct, frozen=True):
    """What a model may do to the gateway."""

    description: str
    arguments: type[Struct] | type[dict[str, Any]]
    run: Callable[[Call, Any], Awaitable[Any]]


def reading(path: str) -> Callable[[Call, Any], Awaitable[Any]]:
    async def read(call: Call, arguments: Any) -> Any:
        return await call(ManagementCall("GET", path))

    return read


async def switch_connection(call: Call, wanted: ConnectionSwitch) -> Any:
    return await call(_switched(wanted.connection_id, wanted.is_active))


async def switch_provider(call: Call, wanted: ProviderSwitch) -> Any:
    """Switch every account of a provider."""
    rows = await _connections(call, wanted.provider_id)
    return {"connections": [await call(_switched(row["id"], wanted.is_active)) for row in rows]}


async def read_usage(call: Call, wanted: PeriodArguments) -> Any:
    days = DAYS.get(wanted.period)
    if days is None:
        query: dict[str, str] = {"period": wanted.period}
    else:
        today = date.today()
        first = today - timedelta(days - 1)
        query = {"startDate": first.isoformat(), "endDate": today.isoformat()}
    return await call(ManagementCall("GET", "/api/usage/stats", query=query))


async def read_savings(call: Call, wanted: PeriodArguments) -> Any:
    return await call(ManagementCall("GET", "/api/headroom/stats"))


async def list_models(call: Call, wanted: KindArguments) -> Any:
    listed = await call(ManagementCall("GET", "/api/models"))
    models = listed["models"]
    if wanted.kinds:
        models = [model for model in models if model["kind"] in wanted.kinds]
    return {"models": models}


async def read_combo(call: Call, wanted: ComboArguments) -> Any:
    return await call(ManagementCall("GET", f"{COMBOS}/{{id}}", {"id": wanted.id}))


async def delete_combo(call: Call, wanted: ComboArguments) -> Any:
    return await call(ManagementCall("DELETE", f"{COMBOS}/{{id}}", {"id": wanted.id}))


async def create_combo(call: Call, fields: dict[str, Any]) -> Any:
    return await call(ManagementCall("POST", COMBOS, body=fields))


async def update_combo(call: Call, fields: dict[str, Any]) -> Any:
    id = fields.get("id")
    if not isinstance(id, str):
        raise BadRequest("id is missing")
    return await call(ManagementCall("PUT", f"{COMBOS}/{{id}}", {"id": id}, body=fields))


async def read_quotas(call: Call, wanted: QuotaArguments) -> Any:
    """What the vendors say is left. Each is asked now, so no snapshot is stale."""
    if wanted.connection_id is not None:
        rows: Sequence[Mapping[str, Any]] = [{"id": wanted.connection_id}]
    else:
        rows = await _connections(call, wanted.provider)
    return {"snapshots": [await _quota(call, row["id"]) for row in rows]}


async def refresh_quota(call: Call, wanted: ConnectionArguments) -> Any:
    return await _quota(call, wanted.connection_id)


async def change_settings(call: Call, wanted: SettingsArguments) -> Any:
    return await call(ManagementCall("PATCH", "/api/settings", body=wanted.settings))


async def _connections(call: Call, provider: str | None) -> Sequence[Mapping[str, Any]]:
    """Accounts, all or those of one provider. Raises NotFound where that has none."""
    listed = await call(ManagementCall("GET", CONNECTIONS))
    rows = [row for row in listed["connections"] if provider in (None, row["provider"])]
    if not rows and provider is not None:
        raise NotFound("The provider has no connection")
    return rows


async def _quota(call: Call, id: str) -> Any:
    quota = await call(ManagementCall("GET", "/api/usage/{connectionId}", {"connectionId": id}))
    return {"connectionId": id, **quota}


def _switched(id: str, is_active: bool) -> ManagementCall:
    return ManagementCall(
        "PATCH", f"{CONNECTIONS}/{{id}}", {"id": id}, body={"isActive": is_active}
    )


TOOLS: Mapping[str, Tool] = {
    "list_providers": Tool("List the vendors.", Arguments, reading("/api/vendors")),
    "list_connections": Tool("List the accounts at vendors.", Arguments, reading(CONNECTIONS)),
    "list_combos": Tool("List the combos.", Arguments, reading(COMBOS)),
    "list_api_keys": Tool("List the gateway's keys, masked.", Arguments, reading("/api/keys")),
    "get_settings": Tool("Read the settings.", Arguments, reading("/api/settings")),
    "toggle_connection_active": Tool(
        "Switch an account on or off.", ConnectionSwitch, switch_connection
    ),
    "toggle_provider_active": Tool(
        "Switch every account of a provider on or off.", ProviderSwitch, switch_provider
    ),
    "usage_stats": Tool("Requests, tokens and cost of a period.", PeriodArguments, read_usage),
    "token_saver_stats": Tool("What compressing prompts saved.", PeriodArguments, read_savings),
    "model_list": Tool("List the models, all or of some kinds.", KindArguments, list_models),
    "get_combo": Tool("Read a combo.", ComboArguments, read_combo),
    "delete_combo": Tool("Delete a combo.", ComboArguments, delete_combo),
    "create_combo": Tool("Create a combo from its fields.", dict, create_combo),
    "update_combo": Tool("Change a combo: its id, and its fields.", dict, update_combo),
    "quota_snapshots": Tool("What is left of accounts' quotas.", QuotaArguments, read_quotas),
    "refresh_quota": Tool("Ask for an account's quota now.", ConnectionArguments, refresh_quota),
    "update_settings": Tool("Change settings.", SettingsArguments, change_settings),
}


def schema_of(tool: Tool) -> dict[str, Any]:
    """JSON Schema of a tool's arguments, without references."""
    if not issubclass(tool.arguments, Struct):
        return {"type": "object"}
    _, components = msgspec.json.schema_components([tool.arguments])
    return {**components[tool.arguments.__name__], "additionalProperties": False}
