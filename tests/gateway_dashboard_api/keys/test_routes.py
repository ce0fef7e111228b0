"""Gateway keys over REST."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway
from gateway_keys import PATH, bearer, chat, key_for, remote, status_of
from own_stores import own_stores

from gateway_core.identity.keys import Mint

pytestmark = pytest.mark.anyio


async def one(admin: AdminGateway, key: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = await admin.call("GET", f"{PATH}/{key['id']}")
    return row


async def put(admin: AdminGateway, key: dict[str, Any], status: int = 200, **body: Any) -> Any:
    return await admin.call("PUT", f"{PATH}/{key['id']}", body, status=status)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def test_a_new_key_shows_its_text_once_and_works_at_once(admin: AdminGateway) -> None:
    account = await admin.connect()

    made = await key_for(
        admin,
        " laptop ",
        expiresAt="2131-05-06T09:08:09+02:00",
        allowedCombos=["best", "best"],
        policy={"rpmLimit": 5, "own": {"kept": True}},
        dailyLimitTokens=1000,
        providerConnectionIds=[account["id"]],
        groups=["team", "red"],
    )

    text = made.pop("key")
    machine_id = admin.core.identity.keys.mint.machine_id
    assert text.startswith(f"sk-{machine_id}-")
    assert made.pop("createdAt") == made.pop("updatedAt")
    assert made.pop("id")
    assert made == {
        "name": "laptop",
        "machineId": machine_id,
        "isActive": True,
        "inferenceOnly": False,
        "expiresAt": "2131-05-06T07:08:09.000Z",
        "allowedCombos": ["best"],
        "policy": {"rpmLimit": 5, "own": {"kept": True}},
        "dailyLimitTokens": 1000,
        "providerConnectionIds": [account["id"]],
        "groups": ["red", "team"],
    }
    assert await status_of(admin, {"key": text}) == 200


async def test_keys_are_listed_without_their_text_beside_the_accounts_there_are(
    admin: AdminGateway,
) -> None:
    account = await admin.connect()
    first, second = await key_for(admin), await key_for(admin, "two", groups=["team"])
    assert await status_of(admin, first) == 200
    await admin.core.ledger.flush()

    answer = await admin.client.get(PATH)

    body = answer.json()
    assert [row["id"] for row in body["keys"]] == [first["id"], second["id"]]
    assert [row["groups"] for row in body["keys"]] == [[], ["team"]]
    assert {row["maskedKey"] for row in body["keys"]} == {"sk-••••••••"}
    used = {"totalTokens": 4, "totalCost": 0.0, "totalRequests": 1}
    used |= {"unpricedRequests": 1, "unpricedTokens": 4}
    assert [row["usage"] for row in body["keys"]] == [used, {**used} | dict.fromkeys(used, 0)]
    assert {"id": account["id"], "name": "main", "provider": "acme"} in body["connections"]
    assert body["keys"][0] == await one(admin, first)
    for key in (first, second):
        assert key["key"] not in answer.text
        assert not {"key", "digest", "version"} & set(await one(admin, key))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"name": ""}, "Name is required"),
        ({"name": " "}, "Name is required"),
        ({"name": None}, "Invalid request body"),
        ({"name": "x" * 201}, "Invalid name"),
        ({"machineId": ""}, "machineId is required"),
        ({"machineId": None}, "machineId is required"),
        ({"expiresAt": "soon"}, "Invalid expiresAt"),
        ({"expiresAt": "2031-05-06T07:08:09"}, "Invalid expiresAt"),
        ({"expiresAt": "2031-05-06"}, "Invalid expiresAt"),
        ({"expiresAt": "0001-01-01T00:00:00+23:59"}, "Invalid expiresAt"),
        ({"expiresAt": 1_800_000_000}, "Invalid request body"),
        ({"isActive": "no"}, "Invalid request body"),
        ({"allowedCombos": "best"}, "Invalid request body"),
        ({"allowedCombos": None}, "Invalid request body"),
        ({"allowedCombos": [""]}, "Invalid allowedCombos"),
        ({"allowedModels": ["a/b", " "]}, "Invalid allowedModels"),
        ({"policy": []}, "Invalid request body"),
        ({"policy": {"allowedModels": [1]}}, "Invalid allowedModels"),
        ({"policy": {"modelAccess": {"mode": "some"}}}, "Invalid modelAccess"),
        ({"policy": {"rpmLimit": -1}}, "Invalid rpmLimit"),
        ({"modelAccess": {"patterns": ["x"] * 201}}, "Invalid modelAccess"),
        ({"rpmLimit": "many"}, "Invalid rpmLimit"),
        ({"rpmLimit": 1.5}, "Invalid rpmLimit"),
        ({"maxTokens": True}, "Invalid request body"),
        ({"maxCostUsd": -0.01}, "Invalid maxCostUsd"),
        ({"dailyLimitTokens": -1}, "Invalid dailyLimitTokens"),
        ({"dailyLimitTokens": 10**30}, "Invalid dailyLimitTokens"),
        ({"providerConnectionIds": None}, "Invalid request body"),
        ({"providerConnectionIds": "x"}, "Invalid request body"),
        ({"providerConnectionIds": ["nobody"]}, "providerConnectionIds names an unknown"),
        ({"groups": [""]}, "Invalid groups"),
        ({"groups": [7]}, "Invalid request body"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_cannot_be_a_key_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    whole = {"name": "one", "machineId": "any", **body}

    answer = await admin.call("POST", PATH, whole, status=400)

    assert answer["error"].startswith(error)
    assert (await admin.call("GET", PATH))["keys"] == []
    if "machineId" not in body:
        key = await key_for(admin, rpmLimit=7)
        before = await one(admin, key)
        await put(admin, key, 400, **body)
        assert await one(admin, key) == before


@pytest.mark.parametrize("missing", ["name", "machineId"])
async def test_a_key_needs_a_name_and_a_machine_id(admin: AdminGateway, missing: str) -> None:
    body = {name: "x" for name in ("name", "machineId") if name != missing}

    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].lower().startswith(missing.lower())


async def test_limits_and_rules_may_stand_beside_the_policy_where_they_win(
    admin: AdminGateway,
) -> None:
    inside = {"rpmLimit": 1, "tpmLimit": 2, "own": 3, "dailyLimitTokens": 4, "__proto__": {"a": 1}}
    beside = {
        "rpmLimit": 10,
        "allowedModels": ["a/b", "a/b "],
        "allowAutoCombos": False,
        "modelAccess": {"mode": "deny", "patterns": [" x* "]},
        "maxTokens": 0,
        "maxCostUsd": 1.5,
        "monthlyBudget": 0,
        "monthlyRequestLimit": "",
    }

    key = await key_for(admin, policy=inside, **beside)

    assert key["policy"] == {
        "rpmLimit": 10,
        "tpmLimit": 2,
        "own": 3,
        "allowedModels": ["a/b"],
        "allowAutoCombos": False,
        "modelAccess": {"mode": "deny", "patterns": ["x*"]},
        "maxTokens": 0,
        "maxCostUsd": 1.5,
    }
    assert key["dailyLimitTokens"] == 4


async def test_a_change_leaves_what_it_does_not_name(admin: AdminGateway) -> None:
    key = await key_for(
        admin, policy={"rpmLimit": 1, "own": 1}, dailyLimitTokens=5, groups=["team"]
    )

    limited = await put(admin, key, tpmLimit=7, policy={"rpmLimit": None})
    renamed = await admin.call("PATCH", f"{PATH}/{key['id']}", {"name": "new"})
    cleared = await put(admin, key, dailyLimitTokens=0, groups=[], expiresAt="")

    assert limited["policy"] == {"own": 1, "tpmLimit": 7}
    assert (limited["name"], limited["dailyLimitTokens"]) == ("one", 5)
    assert (renamed["name"], renamed["groups"]) == ("new", ["team"])
    assert (cleared["dailyLimitTokens"], cleared["groups"], cleared["name"]) == (None, [], "new")
    assert "key" not in cleared


async def test_a_key_is_paused_and_goes_on(admin: AdminGateway) -> None:
    await admin.connect()
    key = await key_for(admin)

    await put(admin, key, isActive=False)
    paused = await status_of(admin, key)
    await put(admin, key, isActive=True)

    assert (paused, await status_of(admin, key)) == (401, 200)


async def test_an_expired_key_stays_and_can_be_given_more_time(admin: AdminGateway) -> None:
    await admin.connect()
    key = await key_for(admin, expiresAt="2001-01-01T00:00:00Z")

    expired = await status_of(admin, key)
    later = await put(admin, key, expiresAt="2131-01-01T00:00:00Z")
    open_again = await status_of(admin, key)
    never = await put(admin, key, expiresAt=None)

    assert (expired, open_again, await status_of(admin, key)) == (401, 200, 200)
    assert (later["expiresAt"], never["expiresAt"]) == ("2131-01-01T00:00:00.000Z", None)


async def test_a_scope_is_replaced_kept_and_lifted(admin: AdminGateway) -> None:
    first, second = await admin.connect(), await admin.connect(name="second")
    key = await key_for(admin, providerConnectionIds=[first["id"]])

    replaced = await put(admin, key, providerConnectionIds=[second["id"]])
    kept = await put(admin, key, name="new")
    lifted = await put(admin, key, providerConnectionIds=[])

    assert replaced["providerConnectionIds"] == kept["providerConnectionIds"] == [second["id"]]
    assert lifted["providerConnectionIds"] == []


@pytest.mark.parametrize("extra", ["nobody", "", None, 5, "again"], ids=repr)
async def test_a_scope_that_cannot_be_leaves_the_key_as_it_was(
    admin: AdminGateway, extra: Any
) -> None:
    account = await admin.connect()
    key = await key_for(admin, providerConnectionIds=[account["id"]])
    before = await one(admin, key)
    ids = [account["id"], account["id"] if extra == "again" else extra]

    await put(admin, key, 400, name="new", isActive=False, providerConnectionIds=ids)

    assert await one(admin, key) == before


async def test_a_key_uses_the_accounts_of_its_scope_only(admin: AdminGateway) -> None:
    await admin.connect()
    wrong = await admin.connect(name="wrong", apiKey="another-canary")
    key = await key_for(admin, providerConnectionIds=[wrong["id"]])
    async with remote(admin) as client:
        refused = await chat(client, key)
        await put(admin, key, providerConnectionIds=[])
        answered = await chat(client, key)

    assert (refused.status_code, answered.status_code) == (401, 200)


async def test_what_a_key_shows_and_no_body_sets_is_dropped(admin: AdminGateway) -> None:
    key = await key_for(admin)
    before = await one(admin, key)

    answer = await admin.client.put(
        f"{PATH}/{key['id']}",
        content=b'{"id":"x","key":"sk-00000000","machineId":"x","createdAt":"x","updatedAt":"x",'
        b'"usage":{"totalTokens":9},"maskedKey":"x"}',
        headers={"content-type": "application/json"},
    )

    assert answer.status_code == 200
    assert {**await one(admin, key), "updatedAt": ""} == {**before, "updatedAt": ""}
    assert admin.core.identity.keys.find("sk-00000000") is None
    found = admin.core.identity.keys.find(key["key"])
    assert found is not None
    assert found.is_good(0)


async def test_changes_of_different_members_at_once_are_all_kept(admin: AdminGateway) -> None:
    accounts = [await admin.connect(name=f"a{n}") for n in range(3)]
    key = await key_for(admin)
    path = f"{PATH}/{key['id']}"
    bodies: list[dict[str, Any]] = [
        {"name": "new"},
        {"isActive": False},
        {"dailyLimitTokens": 9},
        {"allowedCombos": ["best"]},
        {"groups": ["team"]},
        {"expiresAt": "2131-01-01T00:00:00Z"},
        {"providerConnectionIds": [accounts[0]["id"]]},
        {"rpmLimit": 3},
        {"modelAccess": {"mode": "deny", "patterns": ["x"]}},
        *({"policy": {f"own{n}": n}} for n in range(41)),
    ]

    answers = await asyncio.gather(
        *(admin.client.put(path, json=body) for body in bodies),
        *(admin.client.delete(f"/api/providers/{each['id']}") for each in accounts[1:]),
    )

    assert {answer.status_code for answer in answers} == {200}
    row = await one(admin, key)
    own = {f"own{n}": n for n in range(41)}
    access = {"mode": "deny", "patterns": ["x"]}
    assert row["policy"] == {**own, "rpmLimit": 3, "modelAccess": access}
    assert (row["name"], row["isActive"], row["dailyLimitTokens"]) == ("new", False, 9)
    assert (row["allowedCombos"], row["groups"]) == (["best"], ["team"])
    assert row["providerConnectionIds"] == [accounts[0]["id"]]
    assert row["expiresAt"] == "2131-01-01T00:00:00.000Z"


async def test_no_scope_is_emptied_by_accounts_that_go_at_the_same_time(
    admin: AdminGateway,
) -> None:
    accounts = [(await admin.connect(name=f"a{n}"))["id"] for n in range(6)]
    keys = [await key_for(admin, str(n), providerConnectionIds=accounts[n:]) for n in range(4)]

    answers = await asyncio.gather(
        *(admin.client.delete(f"/api/providers/{each}") for each in accounts),
        *(
            admin.client.put(f"{PATH}/{key['id']}", json={"providerConnectionIds": accounts[2:]})
            for key in keys
        ),
        *(
            admin.client.post(
                PATH, json={"name": "n", "machineId": "m", "providerConnectionIds": [each]}
            )
            for each in accounts
        ),
    )

    assert {answer.status_code for answer in answers} <= {200, 201, 400, 409}
    rows = (await admin.call("GET", PATH))["keys"]
    left = {each["id"] for each in (await admin.call("GET", "/api/providers"))["connections"]}
    assert len(rows) >= 4
    for row in rows:
        assert row["providerConnectionIds"]
        assert left.issuperset(row["providerConnectionIds"])
        kept = admin.core.identity.keys.get(row["id"])
        assert kept is not None
        assert kept.connections == frozenset(row["providerConnectionIds"])


async def test_a_key_goes_with_what_belongs_to_it_and_its_calls_stay(admin: AdminGateway) -> None:
    account = await admin.connect()
    key = await key_for(admin, providerConnectionIds=[account["id"]], groups=["team"])
    assert await status_of(admin, key) == 200
    await admin.core.ledger.flush()

    assert await admin.call("DELETE", f"{PATH}/{key['id']}") == {"success": True}

    assert await status_of(admin, key) == 401
    assert (await admin.call("GET", PATH))["keys"] == []
    assert await admin.core.stores.key_usage.ever() == {}
    assert await own_stores(admin.core).key_groups.labels() == {}
    rows = (await admin.core.stores.usage.page()).rows
    assert key["id"] in {row.api_key_id for row in rows}
    await admin.call("DELETE", f"/api/providers/{account['id']}")


async def test_what_is_not_there_is_not_found(admin: AdminGateway) -> None:
    for method, body in (("GET", None), ("PUT", {}), ("PATCH", {}), ("DELETE", None)):
        answer = await admin.call(method, f"{PATH}/x", body, status=404)
        assert answer["error"] == "API key not found"


async def test_a_text_that_is_generated_twice_is_generated_again(admin: AdminGateway) -> None:
    letters = iter("aaaaaaaaaaaabbbbbb")
    table = admin.core.identity.keys
    table.mint = Mint("s", "m", admin.core.stores.keys.index_key, lambda _: next(letters))

    first, second = await key_for(admin), await key_for(admin, "two")

    assert [key["key"].split("-")[2] for key in (first, second)] == ["aaaaaa", "bbbbbb"]


async def test_the_text_of_a_key_is_nowhere_in_clear(admin: AdminGateway, tmp_path: Path) -> None:
    key = await key_for(admin)
    await put(admin, key, name="new")
    async with remote(admin) as client:
        await client.get("/v1/models", headers=bearer(key))
    await admin.call("GET", f"{PATH}/usage?apiKeyId={key['id']}")

    texts = contents(tmp_path)

    assert len(texts) > 3
    secret = key["key"].rpartition("-")[0].encode()
    assert not [text for text in texts if secret in text]
