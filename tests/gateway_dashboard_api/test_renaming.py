"""A node that gets another prefix, and a combo another name, take what names them along."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from gateway_keys import PATH as KEYS
from gateway_keys import bearer, key_for, remote, status_of

pytestmark = pytest.mark.anyio
NODES, COMBOS = "/api/provider-nodes", "/api/combos"


async def node_with_account(admin: AdminGateway, prefix: str = "lab") -> str:
    body = {"name": "Lab", "prefix": prefix, "baseUrl": f"{admin.vendor.url}/v1"}
    node = (await admin.call("POST", NODES, body, status=201))["node"]
    await admin.connect(node["id"])
    return str(node["id"])


async def rename(admin: AdminGateway, node: str, prefix: str = "fresh") -> dict[str, Any]:
    answer: dict[str, Any] = await admin.call("PUT", f"{NODES}/{node}", {"prefix": prefix})
    return answer


@pytest.mark.parametrize(
    "patterns",
    [["lab/secret*"], ["LAB/secret*"], ["l*b/secret*"], ["lab*"], ["*b/secret"], ["*/secret"]],
    ids=str,
)
async def test_a_denied_model_stays_denied_under_its_new_prefix(
    admin: AdminGateway, patterns: list[str]
) -> None:
    node = await node_with_account(admin)
    key = await key_for(admin, modelAccess={"mode": "deny", "patterns": patterns})
    other = await key_for(admin, modelAccess={"mode": "allow", "patterns": patterns})

    await rename(admin, node)

    assert await status_of(admin, key, "fresh/secret") == 403
    assert await status_of(admin, key, f"{node}/secret") == 403
    assert await status_of(admin, other, "fresh/secret") == 200
    assert await status_of(admin, key, "acme/large") == 404  # As before: it has no account.


async def test_what_was_open_stays_open_and_what_was_not_stays_shut(admin: AdminGateway) -> None:
    node = await node_with_account(admin)
    exact = await key_for(admin, allowedModels=["lab/one", "acme/large"])
    rule = await key_for(admin, modelAccess={"mode": "allow", "patterns": ["lab/one"]})

    answer = await rename(admin, node)

    for key in (exact, rule):
        assert await status_of(admin, key, "fresh/one") == 200
        assert await status_of(admin, key, "fresh/two") == 403
    policy = (await admin.call("GET", f"{KEYS}/{exact['id']}"))["policy"]
    assert policy["allowedModels"] == ["fresh/one", "acme/large"]
    reported = {row["id"]: row for row in answer["rewritten"]}
    assert reported[exact["id"]] == reported[rule["id"]] | {"id": exact["id"]}
    assert reported[rule["id"]] == {
        "kind": "key",
        "id": rule["id"],
        "name": "one",
        "before": ["lab/one"],
        "after": ["fresh/one"],
    }


async def test_combos_aliases_and_settings_follow_a_prefix(admin: AdminGateway) -> None:
    node = await node_with_account(admin)
    combo = {
        "name": "best",
        "models": ["lab/one", "lab/lab/two", f"{node}/lab/three", "acme/large"],
        "members": [{"model": "lab/one", "weight": 3}],
    }
    await admin.call("POST", COMBOS, combo, status=201)
    await admin.call("PUT", "/api/models/alias", {"alias": "short", "model": "lab/one"})
    settings = {
        "comboStrategies": {"best": {"fallbackStrategy": "fusion", "judgeModel": "lab/judge"}},
        "mediaRoutes": {"tts": ["lab/voice", "openai/tts-1"]},
        "pxpipeAllowedModels": ["lab/one"],
        "modelTimeouts": {"lab/one": {"timeoutMs": 5}, "lab": {"timeoutMs": 6}},
    }
    await admin.call("PATCH", "/api/settings", settings)

    answer = await rename(admin, node)

    (after,) = (await admin.call("GET", COMBOS))["combos"]
    assert after["models"] == ["fresh/one", "fresh/two", f"{node}/three", "acme/large"]
    assert after["members"] == [{"model": "fresh/one", "weight": 3}]
    assert (await admin.chat("short")).status_code == 200
    shown = await admin.call("GET", "/api/settings")
    assert shown["comboStrategies"]["best"]["judgeModel"] == "fresh/judge"
    assert shown["comboStrategies"]["best"]["fallbackStrategy"] == "fusion"
    assert shown["mediaRoutes"]["tts"] == ["fresh/voice", "openai/tts-1"]
    assert shown["pxpipeAllowedModels"] == ["fresh/one"]
    assert list(shown["modelTimeouts"]) == ["fresh/one", "fresh"]
    reported = {(row["kind"], row["id"]): row for row in answer["rewritten"]}
    assert reported["combo", after["id"]]["after"] == ["fresh/one", "fresh/two", f"{node}/three"]
    assert reported["alias", "short"]["before"] == ["lab/one"]
    assert reported["setting", "mediaRoutes"]["after"] == ["fresh/voice"]
    assert reported["setting", "comboStrategies"]["after"] == ["fresh/judge"]


async def test_a_model_that_is_listed_with_the_prefix_keeps_it(admin: AdminGateway) -> None:
    node = await node_with_account(admin)
    await admin.call("POST", "/api/models/custom", {"providerAlias": "lab", "id": "lab/own"})
    combo = {"name": "best", "models": ["lab/lab/own"]}
    await admin.call("POST", COMBOS, combo, status=201)

    await rename(admin, node)

    assert (await admin.chat("best")).status_code == 200
    assert admin.vendor.calls("/chat/completions")[-1].json()["model"] == "lab/own"


async def test_other_changes_of_a_node_rewrite_nothing(admin: AdminGateway) -> None:
    node = await node_with_account(admin)
    await key_for(admin, allowedModels=["lab/one"])

    named = await admin.call("PUT", f"{NODES}/{node}", {"name": "New"})
    same = await admin.call("PUT", f"{NODES}/{node}", {"prefix": "lab"})

    assert "rewritten" not in named
    assert "rewritten" not in same


async def test_a_rename_that_no_rule_can_follow_is_refused_and_changes_nothing(
    admin: AdminGateway,
) -> None:
    node = await node_with_account(admin)
    patterns = [f"l*{number:03}" for number in range(200)]
    key = await key_for(admin, "crowded", modelAccess={"mode": "deny", "patterns": patterns})
    await admin.call("PUT", "/api/models/alias", {"alias": "short", "model": "lab/one"})

    answer = await admin.call("PUT", f"{NODES}/{node}", {"prefix": "fresh"}, status=409)

    assert 'The patterns of the API key "crowded"' in answer["error"]
    assert (await admin.call("GET", f"{NODES}/{node}"))["node"]["prefix"] == "lab"
    row = await admin.call("GET", f"{KEYS}/{key['id']}")
    assert row["policy"]["modelAccess"]["patterns"] == patterns
    assert (await admin.chat("short")).status_code == 200


async def test_a_prefix_has_no_star(admin: AdminGateway) -> None:
    body = {"name": "Lab", "prefix": "l*b", "baseUrl": f"{admin.vendor.url}/v1"}

    answer = await admin.call("POST", NODES, body, status=400)

    assert answer["error"].startswith("A prefix is at most")


async def test_what_names_a_combo_follows_its_name(admin: AdminGateway) -> None:
    await admin.connect()
    fast = await admin.call("POST", COMBOS, {"name": "fast", "models": ["acme/large"]}, status=201)
    outer = {"name": "outer", "models": ["fast"], "members": [{"model": "fast", "weight": 2}]}
    outer = await admin.call("POST", COMBOS, outer, status=201)
    await admin.call("PUT", "/api/models/alias", {"alias": "short", "model": "fast"})
    key = await key_for(admin, allowedCombos=["fast", "outer"])
    await admin.call(
        "PATCH", "/api/settings", {"comboStrategies": {"outer": {"judgeModel": "fast"}}}
    )

    answer = await admin.call("PUT", f"{COMBOS}/{fast['id']}", {"name": "quick"})

    assert answer["name"] == "quick"
    reported = {
        row["kind"]: (row["id"], row["before"], row["after"]) for row in answer["rewritten"]
    }
    assert reported == {
        "combo": (outer["id"], ["fast"], ["quick"]),
        "alias": ("short", ["fast"], ["quick"]),
        "key": (key["id"], ["fast"], ["quick"]),
        "setting": ("comboStrategies", ["fast"], ["quick"]),
    }
    row = await admin.call("GET", f"{COMBOS}/{outer['id']}")
    assert (row["models"], row["members"]) == (["quick"], [{"model": "quick", "weight": 2}])
    for model in ("quick", "outer", "short"):
        assert await status_of(admin, key, model) == 200
    async with remote(admin) as client:
        listed = (await client.get("/v1/models", headers=bearer(key))).json()["data"]
    assert {"quick", "outer"} <= {one["id"] for one in listed}


async def test_a_new_name_makes_no_circle(admin: AdminGateway) -> None:
    inner = await admin.call(
        "POST", COMBOS, {"name": "inner", "models": ["acme/large"]}, status=201
    )
    await admin.call("POST", COMBOS, {"name": "outer", "models": ["inner"]}, status=201)

    change = {"name": "core", "models": ["outer"]}
    answer = await admin.call("PUT", f"{COMBOS}/{inner['id']}", change, status=400)

    assert answer["error"].startswith("A combo cannot contain itself")
