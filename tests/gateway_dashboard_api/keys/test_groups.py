"""Labels of keys over REST."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from gateway_keys import PATH as KEYS
from gateway_keys import key_for

pytestmark = pytest.mark.anyio
PATH = "/api/key-groups"


async def made(admin: AdminGateway, name: str, **more: Any) -> dict[str, Any]:
    answer = await admin.call("POST", PATH, {"name": name, **more}, status=201)
    group: dict[str, Any] = answer["group"]
    return group


async def test_a_group_comes_back_as_it_was_made(admin: AdminGateway) -> None:
    key = await key_for(admin)

    group = await made(admin, " team ", color="#3366cc", keyIds=[key["id"]])

    assert group["createdAt"] == group["updatedAt"]
    assert (group["name"], group["color"], group["keyIds"]) == ("team", "#3366cc", [key["id"]])
    assert await admin.call("GET", f"{PATH}/{group['id']}") == {"group": group}
    assert await admin.call("GET", PATH) == {"groups": [group]}
    assert (await admin.call("GET", f"{KEYS}/{key['id']}"))["groups"] == ["team"]


async def test_a_change_leaves_what_it_does_not_name(admin: AdminGateway) -> None:
    key = await key_for(admin)
    group = await made(admin, "team", color="red", keyIds=[key["id"]])
    path = f"{PATH}/{group['id']}"

    renamed = (await admin.call("PUT", path, {"name": "crew"}))["group"]
    emptied = (await admin.call("PUT", path, {"keyIds": [], "color": ""}))["group"]

    assert (renamed["name"], renamed["color"], renamed["keyIds"]) == ("crew", "red", [key["id"]])
    assert (emptied["name"], emptied["color"], emptied["keyIds"]) == ("crew", None, [])
    assert (await admin.call("GET", f"{KEYS}/{key['id']}"))["groups"] == []


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
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PATH, body, status=400)

    assert answer["error"].startswith(error)
    assert await admin.call("GET", PATH) == {"groups": []}


async def test_a_name_is_unique(admin: AdminGateway) -> None:
    await made(admin, "team")
    other = await made(admin, "crew")

    again = await admin.call("POST", PATH, {"name": "team"}, status=409)
    await admin.call("PUT", f"{PATH}/{other['id']}", {"name": "team"}, status=409)

    assert again["error"] == "A key group named team already exists"


async def test_a_group_goes_and_its_keys_stay(admin: AdminGateway) -> None:
    key = await key_for(admin, groups=["team"])
    (group,) = (await admin.call("GET", PATH))["groups"]

    assert await admin.call("DELETE", f"{PATH}/{group['id']}") == {"success": True}

    assert (await admin.call("GET", f"{KEYS}/{key['id']}"))["groups"] == []
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        answer = await admin.call(method, f"{PATH}/{group['id']}", body, status=404)
        assert answer["error"] == "Key group not found"
