"""Names for sets of accounts."""

from typing import Any

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key

pytestmark = pytest.mark.anyio
PATH = "/api/connection-groups"


async def test_a_group_is_made_shown_changed_and_deleted(admin: AdminGateway) -> None:
    one, two = await admin.connect(), await admin.connect(name="other")
    made = await admin.call(
        "POST", PATH, {"name": " work ", "connectionIds": [two["id"], one["id"]]}, status=201
    )
    path = f"{PATH}/{made['id']}"

    listed = await admin.call("GET", PATH)
    renamed = await admin.call("PUT", path, {"name": "home"})
    emptied = await admin.call("PUT", path, {"connectionIds": None})
    gone = await admin.call("DELETE", path)

    assert (made["name"], made["connectionIds"]) == ("work", [one["id"], two["id"]])
    assert listed == {"groups": [made]}
    assert (renamed["name"], renamed["connectionIds"]) == ("home", made["connectionIds"])
    assert (emptied["name"], emptied["connectionIds"]) == ("home", [])
    assert gone == {"success": True}
    await admin.call("GET", path, status=404)


async def test_members_come_and_go(admin: AdminGateway) -> None:
    row = await admin.connect()
    made = await admin.call("POST", PATH, {"name": "work"}, status=201)
    path, member = f"{PATH}/{made['id']}/members", {"connectionId": row["id"]}

    added = await admin.call("POST", path, member)
    listed = await admin.call("GET", path)
    removed = await admin.call("DELETE", path, member)
    again = await admin.call("DELETE", path, member, status=404)

    assert added["connectionIds"] == [row["id"]]
    assert listed == {"connectionIds": [row["id"]]}
    assert removed == {"removed": True}
    assert again["error"] == "The connection is not in this group"
    assert await admin.call("GET", path) == {"connectionIds": []}


async def test_an_account_that_is_deleted_is_in_no_group(admin: AdminGateway) -> None:
    row = await admin.connect()
    made = await admin.call(
        "POST", PATH, {"name": "work", "connectionIds": [row["id"]]}, status=201
    )

    await admin.call("DELETE", f"/api/providers/{row['id']}")

    assert (await admin.call("GET", f"{PATH}/{made['id']}"))["connectionIds"] == []


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 400, "Name is required"),
        ({"name": "x" * 201}, 400, "The name is too long"),
        ({"name": "taken"}, 409, "A connection group named taken already exists"),
        ({"name": "x", "connectionIds": ["nobody"]}, 404, "Connection not found"),
        ({"name": 1}, 400, "Invalid request body"),
    ],
)
async def test_a_group_that_makes_no_sense_is_refused(
    admin: AdminGateway, body: dict[str, Any], status: int, error: str
) -> None:
    await admin.call("POST", PATH, {"name": "taken"}, status=201)

    answer = await admin.call("POST", PATH, body, status=status)

    assert answer["error"].startswith(error)
    assert len((await admin.call("GET", PATH))["groups"]) == 1


async def test_a_member_is_named_shortly(admin: AdminGateway) -> None:
    made = await admin.call("POST", PATH, {"name": "work"}, status=201)
    path = f"{PATH}/{made['id']}/members"

    await admin.call("POST", path, {"connectionId": "x" * 8192}, status=413)
    missing = await admin.call("POST", path, {}, status=400)

    assert missing["error"] == "connectionId is required"


async def test_a_restricted_key_reads_groups_and_changes_none(admin: AdminGateway) -> None:
    async with with_key(admin, rpmLimit=9) as key:
        assert await key.call("GET", PATH) == {"groups": []}
        await key.call("POST", PATH, {"name": "work"}, status=403)
