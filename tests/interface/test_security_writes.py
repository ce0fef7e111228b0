"""A write changes only the members that its schema names (S14)."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway, opened
from caller_kinds import SECRET, with_key
from msgspec import Struct

from gateway_core.config.settings import traits
from gateway_dashboard_api.accounts.bodies import (
    ChangedConnectionBody,
    GroupBody,
    NewConnectionBody,
)
from gateway_dashboard_api.combos.bodies import ComboBody
from gateway_dashboard_api.keys.bodies import KeyBody, KeyGroupBody, NewKeyBody
from gateway_dashboard_api.nodes.bodies import NodeBody
from gateway_dashboard_api.proxies.bodies import PoolBody
from gateway_dashboard_api.settings.document import BLANK_KEEPS

pytestmark = pytest.mark.anyio
HIDDEN = {
    "__proto__": {"isAdmin": True},
    "constructor": {"prototype": {"isAdmin": True}},
    "id": "another",
    "key": "sk-mine",
    "digest": "00",
    "secret": "mine",
    "secrets": {"apiKey": "mine"},
    "data": {"apiKey": "mine"},
    "version": 999,
    "createdAt": "2000-01-01T00:00:00.000Z",
    "created_at": "2000-01-01T00:00:00.000Z",
    "updatedAt": "2000-01-01T00:00:00.000Z",
    "authType": "oauth",
    "auth_type": "oauth",
    "machine_id": "other",
    "usage": {"totalTokens": 0, "totalCost": 0, "totalRequests": 0},
    "totalTokens": 0,
    "isAdmin": True,
    "source": "environment",
    "backoffLevel": 99,
    "errorCode": 1,
    "broken": True,
    "lastTestedAt": "2000-01-01T00:00:00.000Z",
}
"""Members of stored rows that no body may name."""


class Kind(Struct, frozen=True, kw_only=True):
    """A resource: where it is, what makes one and what may change it."""

    path: str
    table: str
    new: Mapping[str, Any]
    member: str | None
    """Where in an answer the row stands; ``None`` for the answer itself."""
    made_by: type[Struct]
    changed_by: type[Struct]


KINDS = {
    "connection": Kind(
        path="/api/providers",
        table="connections",
        new={"provider": "acme", "name": "one", "apiKey": KEY},
        member="connection",
        made_by=NewConnectionBody,
        changed_by=ChangedConnectionBody,
    ),
    "node": Kind(
        path="/api/provider-nodes",
        table="nodes",
        new={"name": "one", "prefix": "one", "baseUrl": "http://127.0.0.1:9/v1"},
        member="node",
        made_by=NodeBody,
        changed_by=NodeBody,
    ),
    "combo": Kind(
        path="/api/combos",
        table="combos",
        new={"name": "one", "models": ["acme/large"]},
        member=None,
        made_by=ComboBody,
        changed_by=ComboBody,
    ),
    "pool": Kind(
        path="/api/proxy-pools",
        table="proxy_pools",
        new={"name": "one", "proxyUrl": "http://127.0.0.1:9"},
        member="proxyPool",
        made_by=PoolBody,
        changed_by=PoolBody,
    ),
    "connection group": Kind(
        path="/api/connection-groups",
        table="connection_groups",
        new={"name": "one"},
        member=None,
        made_by=GroupBody,
        changed_by=GroupBody,
    ),
    "key": Kind(
        path="/api/keys",
        table="api_keys",
        new={"name": "one", "machineId": "any", "rpmLimit": 5},
        member=None,
        made_by=NewKeyBody,
        changed_by=KeyBody,
    ),
    "key group": Kind(
        path="/api/key-groups",
        table="key_groups",
        new={"name": "one", "color": "#3366cc"},
        member="group",
        made_by=KeyGroupBody,
        changed_by=KeyGroupBody,
    ),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {"JWT_SECRET": SECRET}) as here:
        yield here


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7
    return {str: f"{value}7", list: ["x"], dict: {"x": 1}}.get(type(value), "x")


def unwritable(row: Mapping[str, Any], body: type[Struct]) -> Iterator[tuple[str, Any]]:
    """Every shown or hidden member of a row that no body names, with a changed value."""
    names = set(body.__struct_encode_fields__)
    for name, value in {**{name: other(value) for name, value in row.items()}, **HIDDEN}.items():
        if name not in names:
            yield name, value


async def stored(admin: AdminGateway, kind: Kind) -> list[dict[str, Any]]:
    """The rows, without members that every write changes."""
    moved = ("updated_at", "version")
    rows = await admin.core.stores.database.fetch(f"SELECT * FROM {kind.table} ORDER BY id")
    return [{name: row[name] for name in row if name not in moved} for row in rows]


def row_of(kind: Kind, answer: Any) -> dict[str, Any]:
    row: dict[str, Any] = answer if kind.member is None else answer[kind.member]
    return row


@pytest.mark.parametrize("name", KINDS)
def test_no_body_has_a_read_only_member(name: str) -> None:
    kind = KINDS[name]

    assert HIDDEN.keys().isdisjoint(kind.made_by.__struct_encode_fields__)
    assert HIDDEN.keys().isdisjoint(kind.changed_by.__struct_encode_fields__)


@pytest.mark.parametrize("name", KINDS)
async def test_further_members_that_a_row_shows_are_not_written(
    admin: AdminGateway, name: str
) -> None:
    kind = KINDS[name]
    made = row_of(kind, await admin.call("POST", kind.path, kind.new, status=201))
    path = f"{kind.path}/{made['id']}"
    before, shown = await stored(admin, kind), await admin.call("GET", path)
    values = dict(unwritable(row_of(kind, shown), kind.changed_by))
    assert len(values) > 10

    for body in (*({member: value} for member, value in values.items()), values):
        answer = await admin.client.put(path, json={**body})
        assert answer.status_code in (200, 400)
    after = await admin.call("GET", path)

    assert await stored(admin, kind) == before
    row_of(kind, after)["updatedAt"] = row_of(kind, shown)["updatedAt"]
    assert after == shown


@pytest.mark.parametrize("name", KINDS)
async def test_further_members_that_a_row_shows_are_not_set_on_a_new_row(
    admin: AdminGateway, name: str
) -> None:
    kind = KINDS[name]
    first = row_of(kind, await admin.call("POST", kind.path, kind.new, status=201))
    values = dict(unwritable(first, kind.made_by))
    new = {**kind.new, "name": "two", **({"prefix": "two"} if name == "node" else {})}

    refused = await admin.call("POST", kind.path, {**values, **new}, status=400)
    assert refused["error"].startswith("Unknown member ")
    shown = {member: values[member] for member in values if member in first}
    assert {"id", "createdAt", "updatedAt"} <= shown.keys()
    made = row_of(kind, await admin.call("POST", kind.path, {**shown, **new}, status=201))

    rows = {row["id"]: row for row in await stored(admin, kind)}
    plain, greedy = rows[first["id"]], rows[made["id"]]
    assert len(rows) == 2
    assert made["id"] != values.get("id")
    assert made["createdAt"] > "2001"
    differ = {member for member in plain if plain[member] != greedy[member]}
    assert differ <= {"id", "name", "prefix", "created_at", "digest", *SEALED, "data", "priority"}
    assert "mine" not in str(greedy)
    assert made.get("key") != "sk-mine"


SEALED = ("secret", "secrets", "proxy_url")


async def test_settings_with_a_route_of_their_own_are_not_patched(admin: AdminGateway) -> None:
    database = admin.core.stores.database
    await admin.call("PATCH", "/api/settings", {"comboStrategy": "round-robin"})
    before = await database.fetch("SELECT * FROM settings")
    shown = await admin.call("GET", "/api/settings")
    shut = {name for name, trait in traits().items() if not trait.patch}
    follows = {name for name in shown if name not in traits()}
    assert {"password", "mfaEnabled", "mfaSecret", "mfaBackupCodes"} <= shut
    assert {"passwordSessionEpoch", "mitmSudoEncrypted", "postgresUrl", "hasPassword"} <= (
        shut | follows
    )

    for name in (*shut, *follows):
        for value in (other(shown.get(name)), "x", True, 1, None, ["x"], {"x": 1}):
            answer = await admin.client.patch("/api/settings", json={name: value})
            assert answer.status_code in (200, 400), name

    assert await database.fetch("SELECT * FROM settings") == before
    assert await admin.call("GET", "/api/settings") == shown


async def test_a_key_changes_no_member_of_the_login_and_no_address(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", {"comboStrategy": "round-robin"})
    before = await admin.core.stores.settings.document()
    guarded = [name for name, trait in traits().items() if trait.patch and trait.operator]
    assert {"requireLogin", "requireApiKey", "authMode", "outboundProxyUrl"} <= set(guarded)

    async with with_key(admin) as here:
        for name in (*guarded, "newPassword"):
            for value in (None, "x", True):
                answer = await here.client.patch("/api/settings", json={name: value})
                is_dropped = value is None and name in (*BLANK_KEEPS, "newPassword")
                assert answer.status_code in (400, 403) or is_dropped, (name, value)

    assert await admin.core.stores.settings.document() == before
