"""Named chains of models."""

from typing import Any

import pytest
from office import Office

pytestmark = pytest.mark.anyio
PATH = "/api/combos"


async def made(office: Office, name: str, *models: str, **more: Any) -> dict[str, Any]:
    body = {"name": name, "models": list(models), **more}
    combo: dict[str, Any] = await office.ask("POST", PATH, body, status=201)
    return combo


async def test_a_combo_is_saved_and_can_be_called_at_once(office: Office) -> None:
    combo = await made(
        office,
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
    assert (await office.ask("GET", f"{PATH}/{identity}"))["models"] == combo["models"]
    listed = await office.client.get("/v1/models")
    assert listed.json()["data"][0]["id"] == "best"


async def test_a_combo_answers(office: Office) -> None:
    await office.connect()
    await made(office, "best", "acme/large")

    assert (await office.chat("best")).status_code == 200


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
    office: Office, body: dict[str, Any], error: str
) -> None:
    answer = await office.ask("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert (await office.ask("GET", PATH)) == {"combos": []}


async def test_a_name_is_given_once(office: Office) -> None:
    await made(office, "one")
    other = await made(office, "two")

    again = await office.ask("POST", PATH, {"name": "one"}, status=400)
    renamed = await office.ask("PUT", f"{PATH}/{other['id']}", {"name": "one"}, status=400)

    assert again["error"] == renamed["error"] == "A combo named one already exists"


@pytest.mark.parametrize("kind", ["webSearch", "search", "image", "llm", ""])
async def test_a_combo_may_be_for_other_work(office: Office, kind: str) -> None:
    combo = await made(office, "other", "acme/vectors" if kind == "image" else "acme/x", kind=kind)

    assert combo["kind"] == (kind or None)


async def test_members_may_be_combos_aliases_and_families(office: Office) -> None:
    await office.ask("PUT", "/api/models/alias", {"model": "acme/large", "alias": "quick"})
    await office.ask(
        "POST", "/api/models/custom", {"providerAlias": "open", "id": "glm-5", "name": "GLM"}
    )
    await made(office, "inner", "acme/small")

    outer = await made(office, "outer", "inner", "quick", "auto/glm")

    assert outer["models"] == ["inner", "quick", "auto/glm"]


async def test_no_circle_can_be_closed(office: Office) -> None:
    first = await made(office, "first", "ac/large")
    await made(office, "second", "first")
    await made(office, "third", "second")
    await office.ask("PUT", "/api/models/alias", {"model": "third", "alias": "short"})

    for name in ("third", "short"):
        body = {"models": ["ac/large", name]}
        answer = await office.ask("PUT", f"{PATH}/{first['id']}", body, status=400)
        assert answer["error"].startswith("A combo cannot contain itself: ")


async def test_an_alias_cannot_close_a_circle(office: Office) -> None:
    await office.ask("PUT", "/api/models/alias", {"model": "ac/large", "alias": "short"})
    await made(office, "one", "short")

    answer = await office.ask(
        "PUT", "/api/models/alias", {"model": "one", "alias": "short"}, status=400
    )

    assert answer["error"] == "A combo cannot contain itself: one → one"


async def test_combos_stand_within_one_another_only_so_deep(office: Office) -> None:
    await made(office, "c0", "ac/large")
    for number in range(1, 8):
        await made(office, f"c{number}", f"c{number - 1}")

    answer = await office.ask("POST", PATH, {"name": "c8", "models": ["c7"]}, status=400)

    assert answer["error"] == "Combos may stand within one another 8 deep at most"


async def test_combos_that_lead_to_too_many_others_are_refused(office: Office) -> None:
    names = [f"leaf{number}" for number in range(40)]
    for name in names:
        await made(office, name, "ac/large")
    await made(office, "branch", *names)

    answer = await office.ask("POST", PATH, {"name": "t", "models": ["branch"] * 40}, status=400)

    assert answer["error"] == "The combo t leads to too many others"


async def test_an_update_changes_what_it_names_and_nothing_else(office: Office) -> None:
    facts = [{"model": "ac/large", "weight": 1}, {"model": "open/large", "weight": 3}]
    combo = await made(
        office, "one", "ac/large", "open/large", members=facts, capabilities={"tools": True}
    )
    path = f"{PATH}/{combo['id']}"

    renamed = await office.ask("PUT", path, {"name": "uno"})
    shorter = await office.ask("PUT", path, {"models": ["open/large"]})
    cleared = await office.ask("PUT", path, {"capabilities": None, "members": None, "kind": "llm"})

    assert {**renamed, "name": "one", "updatedAt": ""} == {**combo, "updatedAt": ""}
    assert (shorter["models"], shorter["members"]) == (["open/large"], facts[1:])
    assert (cleared["capabilities"], cleared["members"], cleared["kind"]) == (None, None, "llm")


async def test_a_member_that_means_nothing_any_more_does_not_stop_a_change(
    office: Office,
) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": office.vendor.url}
    gone = (await office.ask("POST", "/api/provider-nodes", node, status=201))["node"]
    combo = await made(office, "one", "mine/m", "ac/large")
    await office.ask("DELETE", f"/api/provider-nodes/{gone['id']}")

    after = await office.ask(
        "PUT", f"{PATH}/{combo['id']}", {"models": ["ac/large", "mine/m", "ac/small"]}
    )
    await office.ask("PUT", f"{PATH}/{combo['id']}", {"models": ["mine/other"]}, status=400)

    assert after["models"] == ["ac/large", "mine/m", "ac/small"]


async def test_a_combo_goes_with_its_strategy(office: Office) -> None:
    combo = await made(office, "one", "ac/large")
    strategies = {"one": {"fallbackStrategy": "round-robin"}}
    await office.ask("PATCH", "/api/settings", {"comboStrategies": strategies})

    assert await office.ask("DELETE", f"{PATH}/{combo['id']}") == {"success": True}

    assert (await office.ask("GET", "/api/settings"))["comboStrategies"] == {}
    assert "one" not in office.core.snapshot.combos


async def test_what_is_not_there_is_not_found(office: Office) -> None:
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        answer = await office.ask(method, f"{PATH}/x", body, status=404)
        assert answer["error"] == "Combo not found"
