"""Named chains of models."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/combos"


async def made(admin: AdminGateway, name: str, *models: str, **more: Any) -> dict[str, Any]:
    body = {"name": name, "models": list(models), **more}
    combo: dict[str, Any] = await admin.call("POST", PATH, body, status=201)
    return combo


async def test_a_combo_is_saved_and_can_be_called_at_once(admin: AdminGateway) -> None:
    combo = await made(
        admin,
        "best",
        "ac/large",
        "open/large",
        members=[{"model": "ac/large", "weight": 2}],
        capabilities={"vision": False},
        allowedConnectionIds=["a", "b", "a"],
    )

    assert combo.pop("createdAt") == combo.pop("updatedAt")
    identity = combo.pop("id")
    assert combo == {
        "name": "best",
        "kind": None,
        "models": ["ac/large", "open/large"],
        "members": [{"model": "ac/large", "weight": 2}],
        "capabilities": {"vision": False},
        "allowedConnectionIds": ["a", "b"],
    }
    assert (await admin.call("GET", f"{PATH}/{identity}"))["models"] == combo["models"]
    listed = await admin.client.get("/v1/models")
    assert listed.json()["data"][0]["id"] == "best"


async def test_a_combo_answers(admin: AdminGateway) -> None:
    await admin.connect()
    await made(admin, "best", "acme/large")

    assert (await admin.chat("best")).status_code == 200


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"models": []}, "Name is required"),
        ({"name": " "}, "Name is required"),
        ({"name": None}, "Name is required"),
        ({"name": "a b"}, "Invalid combo name"),
        ({"name": "a/b"}, "Invalid combo name"),
        ({"name": "x" * 129}, "Invalid combo name"),
        ({"name": "a", "models": ["nobody/m"]}, 'Invalid member "nobody/m"'),
        ({"name": "a", "models": ["unheard-of"]}, 'Invalid member "unheard-of"'),
        ({"name": "a", "models": [""]}, "Invalid member"),
        ({"name": "a", "models": ["acme/vectors"]}, 'Invalid member "acme/vectors"'),
        ({"name": "a", "models": ["a"]}, "A combo cannot contain itself: a → a"),
        ({"name": "a", "models": ["ac/large"] * 501}, "A combo has at most 500"),
        ({"name": "a", "models": "ac/large"}, "Invalid request body"),
        ({"name": "a", "models": [5]}, "Invalid request body"),
        ({"name": "a", "kind": "telepathy"}, "Invalid kind"),
        ({"name": "a", "members": [{"model": "ac/large"}]}, "Invalid member"),
        (
            {"name": "a", "models": ["ac/large"], "members": [{"model": "ac/large", "weight": -1}]},
            "Invalid member: the weight",
        ),
        (
            {
                "name": "a",
                "models": ["ac/large"],
                "members": [{"model": "ac/large", "weight": 10**400}],
            },
            "Invalid member: the weight",
        ),
        (
            {
                "name": "a",
                "models": ["ac/large"],
                "members": [{"model": "ac/large", "connectionId": 1}],
            },
            "Invalid member: the connectionId",
        ),
        ({"name": "a", "allowedConnectionIds": [str(n) for n in range(501)]}, "A combo allows"),
        ({"name": "a", "capabilities": "many"}, "Invalid request body"),
    ],
)
async def test_what_cannot_be_a_combo_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert (await admin.call("GET", PATH)) == {"combos": []}


async def test_a_name_is_unique(admin: AdminGateway) -> None:
    await made(admin, "one")
    other = await made(admin, "two")

    again = await admin.call("POST", PATH, {"name": "one"}, status=400)
    renamed = await admin.call("PUT", f"{PATH}/{other['id']}", {"name": "one"}, status=400)

    assert again["error"] == renamed["error"] == "A combo named one already exists"


@pytest.mark.parametrize("kind", ["webSearch", "search", "embedding", "llm", ""])
async def test_a_combo_may_be_for_other_work(admin: AdminGateway, kind: str) -> None:
    combo = await made(
        admin, "other", "acme/vectors" if kind == "embedding" else "acme/x", kind=kind
    )

    assert combo["kind"] == (kind or None)


async def test_members_may_be_combos_aliases_and_families(admin: AdminGateway) -> None:
    await admin.call("PUT", "/api/models/alias", {"model": "acme/large", "alias": "quick"})
    await admin.call(
        "POST", "/api/models/custom", {"providerAlias": "open", "id": "glm-5", "name": "GLM"}
    )
    await made(admin, "inner", "acme/small")

    outer = await made(admin, "outer", "inner", "quick", "auto/glm")

    assert outer["models"] == ["inner", "quick", "auto/glm"]


async def test_no_circle_can_be_closed(admin: AdminGateway) -> None:
    first = await made(admin, "first", "ac/large")
    await made(admin, "second", "first")
    await made(admin, "third", "second")
    await admin.call("PUT", "/api/models/alias", {"model": "third", "alias": "short"})

    for name in ("third", "short"):
        body = {"models": ["ac/large", name]}
        answer = await admin.call("PUT", f"{PATH}/{first['id']}", body, status=400)
        assert answer["error"].startswith("A combo cannot contain itself: ")


async def test_an_alias_cannot_close_a_circle(admin: AdminGateway) -> None:
    await admin.call("PUT", "/api/models/alias", {"model": "ac/large", "alias": "short"})
    await made(admin, "one", "short")

    answer = await admin.call(
        "PUT", "/api/models/alias", {"model": "one", "alias": "short"}, status=400
    )

    assert answer["error"] == "A combo cannot contain itself: one → one"


async def test_combos_stand_within_one_another_only_so_deep(admin: AdminGateway) -> None:
    await made(admin, "c0", "ac/large")
    for number in range(1, 8):
        await made(admin, f"c{number}", f"c{number - 1}")

    answer = await admin.call("POST", PATH, {"name": "c8", "models": ["c7"]}, status=400)

    assert answer["error"] == "Combos may stand within one another 8 deep at most"


async def test_combos_that_lead_to_too_many_others_are_refused(admin: AdminGateway) -> None:
    names = [f"leaf{number}" for number in range(40)]
    for name in names:
        await made(admin, name, "ac/large")
    await made(admin, "branch", *names)

    answer = await admin.call("POST", PATH, {"name": "t", "models": ["branch"] * 40}, status=400)

    assert answer["error"] == "The combo t leads to too many others"


async def test_an_update_changes_what_it_names_and_nothing_else(admin: AdminGateway) -> None:
    facts = [{"model": "ac/large", "weight": 1}, {"model": "open/large", "weight": 3}]
    combo = await made(
        admin, "one", "ac/large", "open/large", members=facts, capabilities={"tools": True}
    )
    path = f"{PATH}/{combo['id']}"

    renamed = await admin.call("PUT", path, {"name": "uno"})
    shorter = await admin.call("PUT", path, {"models": ["open/large"]})
    cleared = await admin.call("PUT", path, {"capabilities": None, "members": None, "kind": "llm"})

    assert {**renamed, "name": "one", "updatedAt": ""} == {**combo, "updatedAt": ""}
    assert (shorter["models"], shorter["members"]) == (["open/large"], facts[1:])
    assert (cleared["capabilities"], cleared["members"], cleared["kind"]) == (None, None, "llm")


async def test_a_member_that_no_longer_resolves_does_not_stop_a_change(
    admin: AdminGateway,
) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": admin.vendor.url}
    gone = (await admin.call("POST", "/api/provider-nodes", node, status=201))["node"]
    combo = await made(admin, "one", "mine/m", "ac/large")
    await admin.call("DELETE", f"/api/provider-nodes/{gone['id']}")

    after = await admin.call(
        "PUT", f"{PATH}/{combo['id']}", {"models": ["ac/large", "mine/m", "ac/small"]}
    )
    await admin.call("PUT", f"{PATH}/{combo['id']}", {"models": ["mine/other"]}, status=400)

    assert after["models"] == ["ac/large", "mine/m", "ac/small"]


async def test_a_combo_goes_with_its_strategy(admin: AdminGateway) -> None:
    combo = await made(admin, "one", "ac/large")
    strategies = {"one": {"fallbackStrategy": "round-robin"}}
    await admin.call("PATCH", "/api/settings", {"comboStrategies": strategies})

    assert await admin.call("DELETE", f"{PATH}/{combo['id']}") == {"success": True}

    assert (await admin.call("GET", "/api/settings"))["comboStrategies"] == {}
    assert "one" not in admin.core.snapshot.combos


async def test_what_is_not_there_is_not_found(admin: AdminGateway) -> None:
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        answer = await admin.call(method, f"{PATH}/x", body, status=404)
        assert answer["error"] == "Combo not found"
