"""A member that a body does not have is refused by name: a mistyped limit would be no limit."""

from typing import Any, cast

import pytest
from admin_gateway import AdminGateway
from msgspec import Struct
from own_stores import own_stores

from gateway_administration.stores.keys import KeyChange
from gateway_core.http.operations import RouteOperation
from gateway_core.identity.credentials import COOKIE
from gateway_core.pipeline.context import Collaborators
from gateway_dashboard_api import routes as management

pytestmark = pytest.mark.anyio

KEYS = "/api/keys"
SETTINGS = "/api/settings"
"""Keeps members that nobody knows."""
CONTROL = "/api/mcp/control"
"""Refuses them in the words of JSON-RPC."""
KEY = {"name": "laptop", "machineId": "any"}
PASSWORD = "a long password"
"""Routes of the database ask for it again."""
WRONG = {"mistypedd": 1}
ROWS: dict[str, dict[str, Any]] = {
    "/api/providers": {"provider": "acme", "name": "one", "apiKey": "key-canary-0001"},
    "/api/provider-nodes": {"name": "one", "prefix": "one", "baseUrl": "http://127.0.0.1:9/v1"},
    "/api/combos": {"name": "one", "models": ["acme/large"]},
    "/api/proxy-pools": {"name": "one", "proxyUrl": "http://127.0.0.1:9"},
    "/api/connection-groups": {"name": "one"},
    "/api/keys": KEY,
    "/api/key-groups": {"name": "one"},
}
"""What makes a row, by where it is made."""


@pytest.fixture
def variables() -> dict[str, str]:
    return {
        "ENABLE_TRANSLATOR": "true",
        "JWT_SECRET": "a text that is long enough to sign with",
        "INITIAL_PASSWORD": PASSWORD,
    }


def has_optional(operation: RouteOperation) -> bool:
    body = operation.body
    return isinstance(body, type) and issubclass(body, Struct) and bool(body.__struct_defaults__)


def bodied() -> list[RouteOperation]:
    """Every management operation whose body has a member that may be left out."""
    table = [
        one for each in management.routes_of(cast(Collaborators, None)) for one in each.operations
    ]
    return [one for one in table if has_optional(one) and one.path not in (SETTINGS, CONTROL)]


def named(operation: RouteOperation) -> str:
    return f"{operation.method} {operation.path}"


async def identity(admin: AdminGateway, path: str) -> str:
    """A row for what is asked about one, where there is a way to make it."""
    home = "/".join(path.split("/")[:3])
    if "{" not in path or home not in ROWS:
        return "nobody"
    made = await admin.call("POST", home, ROWS[home], status=201)
    return str(row_of(made)["id"])


@pytest.mark.parametrize("operation", bodied(), ids=named)
async def test_every_body_refuses_a_member_that_it_does_not_have(
    admin: AdminGateway, operation: RouteOperation
) -> None:
    one = await identity(admin, operation.path)
    path = operation.path.format(id=one, connectionId=one, name=one, provider="acme")
    body = {**(operation.example or {}), **WRONG}
    cookie = f"{COOKIE}={admin.core.sessions.issue()}"

    headers = {"cookie": cookie, "x-gateway-password": PASSWORD}
    answer = await admin.client.request(operation.method, path, json=body, headers=headers)

    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error.startswith('Unknown member "mistypedd": possible are ')
    assert all(name in error for name in operation.body.__struct_encode_fields__)


@pytest.mark.parametrize("mistyped", ["ratelimt", "rpmlimit", "maxCostUSD", "provider_connections"])
async def test_a_mistyped_limit_makes_no_key(admin: AdminGateway, mistyped: str) -> None:
    answer = await admin.call("POST", KEYS, {**KEY, mistyped: 5}, status=400)

    assert answer["error"].startswith(f'Unknown member "{mistyped}": possible are ')
    assert "rpmLimit, " in answer["error"]
    assert (await admin.call("GET", KEYS))["keys"] == []


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_mistyped_limit_changes_nothing_of_a_key(admin: AdminGateway, method: str) -> None:
    key = await admin.call("POST", KEYS, {**KEY, "rpmLimit": 5}, status=201)
    path = f"{KEYS}/{key['id']}"
    before = await admin.call("GET", path)

    body = {"rpmLimit": None, "dailyLimitToken": 10, "name": "other"}
    answer = await admin.call(method, path, body, status=400)

    assert answer["error"].startswith('Unknown member "dailyLimitToken"')
    assert await admin.call("GET", path) == before


@pytest.mark.parametrize(
    ("access", "wrong"),
    [
        ({"mod": "allow", "patterns": ["a/*"]}, "mod"),
        ({"mode": "deny", "pattern": ["a"]}, "pattern"),
    ],
)
async def test_a_mistyped_rule_for_models_is_not_a_rule_that_opens_them(
    admin: AdminGateway, access: dict[str, Any], wrong: str
) -> None:
    beside = await admin.call("POST", KEYS, {**KEY, "modelAccess": access}, status=400)
    inside = await admin.call("POST", KEYS, {**KEY, "policy": {"modelAccess": access}}, status=400)

    expected = f'Invalid modelAccess: unknown member "{wrong}", possible are mode, patterns'
    assert beside["error"] == inside["error"] == expected


@pytest.mark.parametrize(
    ("access", "written"),
    [
        ({"patterns": ["a/*"]}, "patterns need a mode, allow or deny"),
        ({"mode": "allow"}, "mode allow needs patterns"),
        ({"mode": "deny"}, "mode deny needs patterns"),
    ],
)
async def test_half_a_rule_for_models_is_not_a_rule_that_opens_them(
    admin: AdminGateway, access: dict[str, Any], written: str
) -> None:
    for body in ({"modelAccess": access}, {"policy": {"modelAccess": access}}):
        answer = await admin.call("POST", KEYS, {**KEY, **body}, status=400)
        assert answer["error"] == f"Invalid modelAccess: {written}"


@pytest.mark.parametrize(
    "mistyped",
    [
        *("rpmlimit", "rpm_limit", "monthlyBudgetUsd", "dailyTokenLimit", "maxCostUSD", "maxCost"),
        *(
            "allowModels",
            "modelaccess",
            "budget",
            "requestLimit",
            "tokens",
            "MaxTokens",
            "rateLimit",
        ),
        *("blockedModels", "expires", "dailyTokens"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_a_mistyped_limit_in_the_policy_is_refused_by_name(
    admin: AdminGateway, mistyped: str, method: str
) -> None:
    key = await admin.call("POST", KEYS, KEY, status=201)
    path = KEYS if method == "POST" else f"{KEYS}/{key['id']}"

    answer = await admin.call(method, path, {**KEY, "policy": {mistyped: 5}}, status=400)

    assert answer["error"].startswith(f'Invalid policy: unknown member "{mistyped}", possible are ')
    assert "monthlyBudget, " in answer["error"]
    assert len((await admin.call("GET", KEYS))["keys"]) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("isActive", False),
        ("expiresAt", "2031-01-01T00:00:00Z"),
        ("allowedCombos", ["fast"]),
        ("providerConnectionIds", ["one"]),
        ("groups", ["team"]),
        ("inferenceOnly", True),
        ("name", "other"),
        ("policy", {"rpmLimit": 5}),
    ],
)
async def test_a_member_of_the_key_is_refused_inside_its_policy(
    admin: AdminGateway, name: str, value: Any
) -> None:
    answer = await admin.call("POST", KEYS, {**KEY, "policy": {name: value}}, status=400)

    assert answer["error"].startswith(f'Invalid policy: "{name}" is a member of the key')


async def test_a_misspelt_member_that_was_stored_before_can_be_removed(
    admin: AdminGateway,
) -> None:
    change = KeyChange(name="old", policy={"rpmlimit": 5})
    old = await own_stores(admin.core).keys.create("text", "aa" * 32, "m", change)

    after = await admin.call("PUT", f"{KEYS}/{old.id}", {"policy": {"rpmlimit": None}})

    assert after["policy"] == {}


@pytest.mark.parametrize("name", ["own", "note", "team", "costCenter", "x-owner", "tags", "ids"])
async def test_names_that_restrict_nothing_may_be_stored(admin: AdminGateway, name: str) -> None:
    key = await admin.call("POST", KEYS, {**KEY, "policy": {name: "a"}}, status=201)

    assert key["policy"] == {name: "a"}


async def test_a_mistyped_pin_of_a_combo_s_member_does_not_open_every_account(
    admin: AdminGateway,
) -> None:
    members = [{"model": "acme/large", "conectionId": "one"}]
    combo = {"name": "one", "models": ["acme/large"], "members": members}

    answer = await admin.call("POST", "/api/combos", combo, status=400)

    expected = 'Invalid member: unknown "conectionId", possible are model, weight, connectionId'
    assert answer["error"] == expected


async def test_other_members_of_a_policy_are_kept(admin: AdminGateway) -> None:
    key = await admin.call("POST", KEYS, {**KEY, "policy": {"own": {"a": 1}}}, status=201)

    assert key["policy"]["own"] == {"a": 1}


def row_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The row in an answer that has it under its noun, or is it."""
    inner = next(
        (each for each in answer.values() if isinstance(each, dict) and "id" in each), None
    )
    return answer if inner is None else inner


@pytest.mark.parametrize("home", ROWS)
async def test_a_row_may_be_sent_back_as_it_was_read(admin: AdminGateway, home: str) -> None:
    path = f"{home}/{await identity(admin, home + '/{id}')}"
    row = row_of(await admin.call("GET", path))

    after = row_of(await admin.call("PUT", path, row))

    assert {**after, "updatedAt": "now"} == {**row, "updatedAt": "now"}


async def test_what_the_gateway_found_out_about_an_account_may_be_sent_back(
    admin: AdminGateway,
) -> None:
    path = f"/api/providers/{await identity(admin, '/api/providers/{id}')}"
    admin.vendor.key = "another"
    await admin.call("POST", f"{path}/test")
    row = (await admin.call("GET", path))["connection"]
    assert {"lastError", "testStatus", "canDiscoverModels"} <= row.keys()

    after = await admin.call("PUT", path, row)

    assert after["connection"]["lastError"] == row["lastError"]


async def test_an_account_may_be_made_that_is_not_active_yet(admin: AdminGateway) -> None:
    row = await admin.connect(isActive=False)

    assert row["isActive"] is False
    assert (await admin.chat("acme/large")).status_code == 404
