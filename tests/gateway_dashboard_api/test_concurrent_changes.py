"""Many operators at once."""

import asyncio
from typing import Any

import pytest
from admin_gateway import KEY, AdminGateway

pytestmark = pytest.mark.anyio


async def together(admin: AdminGateway, *calls: tuple[str, str, Any]) -> list[int]:
    answers = await asyncio.gather(
        *(admin.client.request(method, path, json=body) for method, path, body in calls)
    )
    return [answer.status_code for answer in answers]


async def test_changes_of_different_members_of_one_account_are_all_kept(
    admin: AdminGateway,
) -> None:
    row = await admin.connect()
    path = f"/api/providers/{row['id']}"
    members = {f"member{number}": number for number in range(50)}
    calls = [("PUT", path, {"providerSpecificData": {name: members[name]}}) for name in members]

    statuses = await together(admin, *calls, ("PATCH", path, {"defaultModel": "small"}))

    assert set(statuses) == {200}
    after = (await admin.call("GET", path))["connection"]
    assert after["providerSpecificData"] == members
    assert after["defaultModel"] == "small"
    assert await admin.stored(row["id"]) == {"apiKey": KEY}
    assert admin.core.snapshot.accounts["acme"][0].credential.data == members


async def test_changes_of_different_settings_are_all_kept(admin: AdminGateway) -> None:
    wanted = {f"own{number}": number for number in range(50)}

    statuses = await together(
        admin, *(("PATCH", "/api/settings", {name: value}) for name, value in wanted.items())
    )

    assert set(statuses) == {200}
    assert dict(admin.core.snapshot.settings.extra) == wanted


async def test_models_added_to_one_provider_at_once_are_all_kept(admin: AdminGateway) -> None:
    path = "/api/models/custom"
    calls = [("POST", path, {"providerAlias": "ac", "id": f"m{n}"}) for n in range(50)]
    hidden = [
        ("POST", "/api/models/disabled", {"providerAlias": "ac", "ids": [f"m{n}"]})
        for n in range(0, 50, 2)
    ]

    statuses = await together(admin, *calls, *hidden)

    assert set(statuses) == {200}
    rows = (await admin.call("GET", path))["models"]
    assert {row["id"] for row in rows} == {f"m{n}" for n in range(50)}
    answer = await admin.call("GET", "/api/models/disabled?providerAlias=ac")
    assert set(answer["ids"]) == {f"m{n}" for n in range(0, 50, 2)}
    shown = {row.id for row in admin.core.snapshot.models["acme"]}
    assert {f"m{n}" for n in range(1, 50, 2)} <= shown
    assert shown.isdisjoint(f"m{n}" for n in range(0, 50, 2))


async def test_one_of_many_gets_a_name_and_the_others_a_conflict(admin: AdminGateway) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": admin.vendor.url}
    account = {"provider": "acme", "name": "main", "apiKey": KEY}

    nodes = await together(admin, *[("POST", "/api/provider-nodes", node)] * 10)
    accounts = await together(admin, *[("POST", "/api/providers", account)] * 10)
    combos = await together(admin, *[("POST", "/api/combos", {"name": "one"})] * 10)

    assert (sorted(nodes), sorted(accounts)) == ([201, *[409] * 9], [201, *[409] * 9])
    assert sorted(combos) == [201, *[400] * 9]


async def test_two_halves_of_a_circle_are_not_both_closed(admin: AdminGateway) -> None:
    first = await admin.call("POST", "/api/combos", {"name": "a"}, status=201)
    second = await admin.call("POST", "/api/combos", {"name": "b"}, status=201)

    statuses = await together(
        admin,
        ("PUT", f"/api/combos/{first['id']}", {"models": ["b"]}),
        ("PUT", f"/api/combos/{second['id']}", {"models": ["a"]}),
    )

    assert sorted(statuses) == [200, 400]


async def test_a_key_and_a_move_at_once_never_meet(admin: AdminGateway) -> None:
    """Whoever comes second sees what the first has done: an old key goes nowhere new."""
    row = await admin.connect()
    path = f"/api/providers/{row['id']}"
    moves = [
        ("PUT", path, {"providerSpecificData": {"baseUrl": f"{base.url}/v1"}})
        for base in (admin.other, admin.vendor) * 5
    ]

    statuses = await together(admin, *moves)
    await admin.chat("acme/large")

    assert set(statuses) == {200}
    assert await admin.stored(row["id"]) == {}
    assert all("authorization" not in received.headers for received in admin.other.received)


async def test_making_and_deleting_at_once_breaks_nothing(admin: AdminGateway) -> None:
    rows = [await admin.connect(name=str(number)) for number in range(10)]
    deletes = [("DELETE", f"/api/providers/{row['id']}", None) for row in rows] * 2
    creates = [
        ("POST", "/api/providers", {"provider": "acme", "name": f"new{n}", "apiKey": KEY})
        for n in range(10)
    ]

    statuses = await together(admin, *deletes, *creates)

    assert sorted(statuses) == [*[200] * 10, *[201] * 10, *[404] * 10]
    stored = (await admin.call("GET", "/api/providers"))["connections"]
    assert [row["priority"] for row in stored] == list(range(1, 11))
    assert len(admin.core.snapshot.accounts["acme"]) == 10
