"""Labels of keys over REST."""

from typing import Any

import pytest
from key_ring import PATH as KEYS
from key_ring import key_for
from office import Office

pytestmark = pytest.mark.anyio
PATH = "/api/key-groups"


async def made(office: Office, name: str, **more: Any) -> dict[str, Any]:
    answer = await office.ask("POST", PATH, {"name": name, **more}, status=201)
    group: dict[str, Any] = answer["group"]
    return group


async def test_a_group_comes_back_as_it_was_made(office: Office) -> None:
    key = await key_for(office)

    group = await made(office, " team ", color="#3366cc", keyIds=[key["id"]])

    assert group["createdAt"] == group["updatedAt"]
    assert (group["name"], group["color"], group["keyIds"]) == ("team", "#3366cc", [key["id"]])
    assert await office.ask("GET", f"{PATH}/{group['id']}") == {"group": group}
    assert await office.ask("GET", PATH) == {"groups": [group]}
    assert (await office.ask("GET", f"{KEYS}/{key['id']}"))["groups"] == ["team"]


async def test_a_change_leaves_what_it_does_not_name(office: Office) -> None:
    key = await key_for(office)
    group = await made(office, "team", color="red", keyIds=[key["id"]])
    path = f"{PATH}/{group['id']}"

    renamed = (await office.ask("PUT", path, {"name": "crew"}))["group"]
    emptied = (await office.ask("PUT", path, {"keyIds": [], "color": ""}))["group"]

    assert (renamed["name"], renamed["color"], renamed["keyIds"]) == ("crew", "red", [key["id"]])
    assert (emptied["name"], emptied["color"], emptied["keyIds"]) == ("crew", None, [])
    assert (await office.ask("GET", f"{KEYS}/{key['id']}"))["groups"] == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Name is required"),
        ({"name": " "}, "Name is required"),
        ({"name": 7}, "Invalid request body"),
        ({"name": "x" * 201}, "Invalid name"),
        ({"name": "a", "color": 7}, "Invalid request body"),
        ({"name": "a", "color": "red;background:url(x)"}, "Invalid color"),
        ({"name": "a", "keyIds": "x"}, "Invalid request body"),
        ({"name": "a", "keyIds": [7]}, "Invalid request body"),
        ({"name": "a", "keyIds": ["nobody"]}, "keyIds names an unknown key"),
    ],
    ids=str,
)
async def test_what_cannot_be_a_group_is_refused(
    office: Office, body: dict[str, Any], error: str
) -> None:
    answer = await office.ask("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert await office.ask("GET", PATH) == {"groups": []}


async def test_a_name_is_given_once(office: Office) -> None:
    await made(office, "team")
    other = await made(office, "crew")

    again = await office.ask("POST", PATH, {"name": "team"}, status=409)
    await office.ask("PUT", f"{PATH}/{other['id']}", {"name": "team"}, status=409)

    assert again["error"] == "A key group named team already exists"


async def test_a_group_goes_and_its_keys_stay(office: Office) -> None:
    key = await key_for(office, groups=["team"])
    (group,) = (await office.ask("GET", PATH))["groups"]

    assert await office.ask("DELETE", f"{PATH}/{group['id']}") == {"success": True}

    assert (await office.ask("GET", f"{KEYS}/{key['id']}"))["groups"] == []
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        answer = await office.ask(method, f"{PATH}/{group['id']}", body, status=404)
        assert answer["error"] == "Key group not found"
