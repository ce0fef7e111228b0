"""Names for sets of accounts."""

from typing import Any

import pytest
from audiences import by_key
from office import Office

pytestmark = pytest.mark.anyio
PATH = "/api/connection-groups"


async def test_a_group_is_made_shown_changed_and_deleted(office: Office) -> None:
    one, two = await office.connect(), await office.connect(name="other")
    made = await office.ask(
        "POST", PATH, {"name": " work ", "connectionIds": [two["id"], one["id"]]}, status=201
    )
    path = f"{PATH}/{made['id']}"

    listed = await office.ask("GET", PATH)
    renamed = await office.ask("PUT", path, {"name": "home"})
    emptied = await office.ask("PUT", path, {"connectionIds": None})
    gone = await office.ask("DELETE", path)

    assert (made["name"], made["connectionIds"]) == ("work", [one["id"], two["id"]])
    assert listed == {"groups": [made]}
    assert (renamed["name"], renamed["connectionIds"]) == ("home", made["connectionIds"])
    assert (emptied["name"], emptied["connectionIds"]) == ("home", [])
    assert gone == {"success": True}
    await office.ask("GET", path, status=404)


async def test_members_come_and_go(office: Office) -> None:
    row = await office.connect()
    made = await office.ask("POST", PATH, {"name": "work"}, status=201)
    path, member = f"{PATH}/{made['id']}/members", {"connectionId": row["id"]}

    added = await office.ask("POST", path, member)
    listed = await office.ask("GET", path)
    removed = await office.ask("DELETE", path, member)
    again = await office.ask("DELETE", path, member, status=404)

    assert added["connectionIds"] == [row["id"]]
    assert listed == {"connectionIds": [row["id"]]}
    assert removed == {"removed": True}
    assert again["error"] == "The connection is not in this group"
    assert await office.ask("GET", path) == {"connectionIds": []}


async def test_an_account_that_is_deleted_is_in_no_group(office: Office) -> None:
    row = await office.connect()
    made = await office.ask(
        "POST", PATH, {"name": "work", "connectionIds": [row["id"]]}, status=201
    )

    await office.ask("DELETE", f"/api/providers/{row['id']}")

    assert (await office.ask("GET", f"{PATH}/{made['id']}"))["connectionIds"] == []


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
    office: Office, body: dict[str, Any], status: int, error: str
) -> None:
    await office.ask("POST", PATH, {"name": "taken"}, status=201)

    answer = await office.ask("POST", PATH, body, status=status)

    assert answer["error"].startswith(error)
    assert len((await office.ask("GET", PATH))["groups"]) == 1


async def test_a_member_is_named_shortly(office: Office) -> None:
    made = await office.ask("POST", PATH, {"name": "work"}, status=201)
    path = f"{PATH}/{made['id']}/members"

    await office.ask("POST", path, {"connectionId": "x" * 8192}, status=413)
    missing = await office.ask("POST", path, {}, status=400)

    assert missing["error"] == "connectionId is required"


async def test_a_restricted_key_reads_groups_and_changes_none(office: Office) -> None:
    async with by_key(office, rpmLimit=9) as key:
        assert await key.ask("GET", PATH) == {"groups": []}
        await key.ask("POST", PATH, {"name": "work"}, status=403)
