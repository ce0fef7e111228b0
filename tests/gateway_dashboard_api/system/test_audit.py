"""The audit trail: every change with old and new values, and no secret."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway

from gateway_administration.stores.audit import AuditRow
from gateway_core.storage.moments import iso

pytestmark = pytest.mark.anyio
PATH = "/api/audit"
NEW = "key-canary-0002"


async def trail(admin: AdminGateway, **query: Any) -> list[dict[str, Any]]:
    """Rows, oldest first."""
    rows: list[dict[str, Any]] = (await admin.call("GET", PATH, params=query))["rows"]
    return rows[::-1]


async def change_key(admin: AdminGateway) -> str:
    body = {"name": "laptop", "machineId": "any", "rpmLimit": 5}
    made = await admin.call("POST", "/api/keys", body, status=201)
    path = f"/api/keys/{made['id']}"
    await admin.call("PATCH", path, {"rpmLimit": 9, "isActive": False})
    await admin.call("DELETE", path)
    return str(made["id"])


async def change_account(admin: AdminGateway) -> str:
    row = await admin.connect(name="work")
    path = f"/api/providers/{row['id']}"
    await admin.call("PATCH", path, {"apiKey": NEW, "name": "home"})
    await admin.call("DELETE", path)
    return str(row["id"])


async def change_node(admin: AdminGateway) -> str:
    body = {"name": "Shed", "prefix": "shed", "baseUrl": f"{admin.other.url}/v1"}
    node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
    path = f"/api/provider-nodes/{node['id']}"
    await admin.call("PUT", path, {"name": "Barn"})
    await admin.call("DELETE", path)
    return str(node["id"])


async def change_combo(admin: AdminGateway) -> str:
    body = {"name": "fast", "models": ["echo/echo"]}
    combo = await admin.call("POST", "/api/combos", body, status=201)
    path = f"/api/combos/{combo['id']}"
    await admin.call("PUT", path, {"models": ["echo/echo", "acme/large"]})
    await admin.call("DELETE", path)
    return str(combo["id"])


async def change_pool(admin: AdminGateway) -> str:
    body = {"name": "out", "proxyUrl": "http://me:hush@127.0.0.1:9"}
    pool = (await admin.call("POST", "/api/proxy-pools", body, status=201))["proxyPool"]
    path = f"/api/proxy-pools/{pool['id']}"
    await admin.call("PUT", path, {"proxyUrl": "http://you:hush@127.0.0.1:9"})
    await admin.call("DELETE", path)
    return str(pool["id"])


async def change_key_group(admin: AdminGateway) -> str:
    group = (await admin.call("POST", "/api/key-groups", {"name": "team"}, status=201))["group"]
    path = f"/api/key-groups/{group['id']}"
    await admin.call("PUT", path, {"name": "crew"})
    await admin.call("DELETE", path)
    return str(group["id"])


async def change_connection_group(admin: AdminGateway) -> str:
    group = await admin.call("POST", "/api/connection-groups", {"name": "team"}, status=201)
    path = f"/api/connection-groups/{group['id']}"
    await admin.call("PUT", path, {"name": "crew"})
    await admin.call("DELETE", path)
    return str(group["id"])


Change = Callable[[AdminGateway], Awaitable[str]]
NOUNS: list[tuple[str, Change, dict[str, Any]]] = [
    ("key", change_key, {"policy.rpmLimit": (5, 9), "isActive": (True, False)}),
    ("connection", change_account, {"name": ("work", "home"), "data.apiKey": ("***", "***")}),
    ("node", change_node, {"name": ("Shed", "Barn")}),
    ("combo", change_combo, {"models": (["echo/echo"], ["echo/echo", "acme/large"])}),
    (
        "proxy-pool",
        change_pool,
        {"proxyUrl": ("http://***@127.0.0.1:9", "http://***@127.0.0.1:9")},
    ),
    ("key-group", change_key_group, {"name": ("team", "crew")}),
    ("connection-group", change_connection_group, {"name": ("team", "crew")}),
]


@pytest.mark.parametrize(("noun", "change", "expected"), NOUNS, ids=[noun for noun, _, _ in NOUNS])
async def test_a_row_for_each_change_has_old_and_new_values(
    admin: AdminGateway, noun: str, change: Change, expected: dict[str, Any]
) -> None:
    identity = await change(admin)

    created, updated, deleted = await trail(admin, action=noun)

    assert [row["action"] for row in (created, updated, deleted)] == [
        f"{noun}.create",
        f"{noun}.update",
        f"{noun}.delete",
    ]
    assert updated["target"] == deleted["target"] == identity
    assert (updated["actor"], updated["address"]) == ("cli", "127.0.0.1")
    changes = updated["detail"]["changes"]
    for name, (old, new) in expected.items():
        assert changes[name] == {"old": old, "new": new}
    assert all(value["old"] is None for value in created["detail"]["changes"].values())
    assert all(value["new"] is None for value in deleted["detail"]["changes"].values())
    assert deleted["detail"]["name"]
    stored = await admin.core.stores.database.fetch("SELECT detail FROM audit")
    assert "canary" not in str(stored)
    assert "hush" not in str(stored)
    assert KEY not in str(stored)


REQUESTS: list[tuple[str, str, Any, str, dict[str, Any]]] = [
    (
        "PUT",
        "/api/models/alias",
        {"model": "echo/echo", "alias": "parrot"},
        "alias.set",
        {"model": (None, "echo/echo")},
    ),
    ("DELETE", "/api/models/alias?alias=parrot", None, "alias.delete", {}),
    (
        "PATCH",
        "/api/pricing",
        {"acme": {"large": {"input": 1, "output": 2}}},
        "price.update",
        {"acme.large.input": (None, 1)},
    ),
    ("DELETE", "/api/pricing", None, "price.delete", {}),
    (
        "POST",
        "/api/models/disabled",
        {"providerAlias": "acme", "ids": ["large"]},
        "model-visibility.update",
        {"disabled_models": ([], ["large"])},
    ),
    (
        "POST",
        "/api/models/custom",
        {"providerAlias": "acme", "id": "mine"},
        "custom-model.create",
        {"id": (None, "mine")},
    ),
    (
        "PATCH",
        "/api/settings",
        {"comboStrategy": "round-robin"},
        "settings.change",
        {"comboStrategy": (None, "round-robin")},
    ),
    (
        "PUT",
        "/api/media-providers/routes",
        {"kind": "embedding", "models": ["acme/vectors"]},
        "settings.change",
        {"mediaRoutes.embedding": (None, ["acme/vectors"])},
    ),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "action", "expected"),
    REQUESTS,
    ids=[f"{method} {path}" for method, path, *_ in REQUESTS],
)
async def test_smaller_changes_leave_a_row_too(
    admin: AdminGateway,
    method: str,
    path: str,
    body: Any,
    action: str,
    expected: dict[str, Any],
) -> None:
    await admin.call(method, path, body)

    (row,) = await trail(admin)

    assert row["action"] == action
    for name, (old, new) in expected.items():
        assert row["detail"]["changes"][name] == {"old": old, "new": new}


async def test_a_change_that_cannot_be_noted_is_not_made(admin: AdminGateway) -> None:
    await admin.core.stores.database.execute("ALTER TABLE audit RENAME TO elsewhere")

    body = {"model": "echo/echo", "alias": "parrot"}
    await admin.call("PUT", "/api/models/alias", body, status=500)

    assert (await admin.call("GET", "/api/models/alias"))["aliases"] == {}


@pytest.mark.parametrize(
    ("query", "targets"),
    [
        ({}, ["1", "2", "3"]),
        ({"action": "key.create"}, ["1"]),
        ({"action": "key"}, ["1", "2"]),
        ({"action": "k"}, []),
        ({"actor": "key:k"}, ["3"]),
        ({"address": "::1"}, ["2"]),
        ({"target": "3"}, ["3"]),
        ({"actor": "cli", "action": "key.delete"}, ["2"]),
        ({"startDate": "2027-01-14", "endDate": "2027-01-14"}, ["2"]),
        ({"startDate": "2027-01-15"}, ["3"]),
        ({"target": "' OR 1=1 --"}, []),
    ],
    ids=str,
)
async def test_rows_are_filtered(
    admin: AdminGateway, query: dict[str, str], targets: list[str]
) -> None:
    await keep(admin, 13, "cli", "127.0.0.1", "key.create", "1")
    await keep(admin, 14, "cli", "::1", "key.delete", "2")
    await keep(admin, 15, "key:k", "127.0.0.1", "alias.set", "3")

    rows = await trail(admin, **query)

    assert [row["target"] for row in rows] == targets


async def keep(
    admin: AdminGateway, day: int, actor: str, address: str, action: str, target: str
) -> None:
    await admin.core.stores.audit.write(actor, address, action, target)
    await admin.core.stores.database.execute(
        "UPDATE audit SET at = :at WHERE target = :target",
        at=f"2027-01-{day}T12:00:00.000Z",
        target=target,
    )


async def test_the_shape_of_a_row(admin: AdminGateway) -> None:
    await admin.core.stores.audit.write("cli", "::1", "key.create", "k")

    (row,) = await trail(admin)

    assert set(row) == set(AuditRow.__struct_encode_fields__)
    assert row["at"] <= iso(admin.core.clock())
