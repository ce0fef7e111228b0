"""Many operators at once."""

import asyncio
from typing import Any

import pytest
from office import KEY, Office

pytestmark = pytest.mark.anyio


async def together(office: Office, *calls: tuple[str, str, Any]) -> list[int]:
    answers = await asyncio.gather(
        *(office.client.request(method, path, json=body) for method, path, body in calls)
    )
    return [answer.status_code for answer in answers]


async def test_changes_of_different_members_of_one_account_are_all_kept(office: Office) -> None:
    row = await office.connect()
    path = f"/api/providers/{row['id']}"
    members = {f"member{number}": number for number in range(50)}
    calls = [("PUT", path, {"providerSpecificData": {name: members[name]}}) for name in members]

    statuses = await together(office, *calls, ("PATCH", path, {"defaultModel": "small"}))

    assert set(statuses) == {200}
    after = (await office.ask("GET", path))["connection"]
    assert after["providerSpecificData"] == members
    assert after["defaultModel"] == "small"
    assert await office.stored(row["id"]) == {"apiKey": KEY}
    assert office.core.snapshot.accounts["acme"][0].credential.data == members


async def test_changes_of_different_settings_are_all_kept(office: Office) -> None:
    wanted = {f"own{number}": number for number in range(50)}

    statuses = await together(
        office, *(("PATCH", "/api/settings", {name: value}) for name, value in wanted.items())
    )

    assert set(statuses) == {200}
    assert dict(office.core.snapshot.settings.extra) == wanted


async def test_models_added_to_one_provider_at_once_are_all_kept(office: Office) -> None:
    path = "/api/models/custom"
    calls = [("POST", path, {"providerAlias": "ac", "id": f"m{n}"}) for n in range(50)]
    hidden = [
        ("POST", "/api/models/disabled", {"providerAlias": "ac", "ids": [f"m{n}"]})
        for n in range(0, 50, 2)
    ]

    statuses = await together(office, *calls, *hidden)

    assert set(statuses) == {200}
    rows = (await office.ask("GET", path))["models"]
    assert {row["id"] for row in rows} == {f"m{n}" for n in range(50)}
    answer = await office.ask("GET", "/api/models/disabled?providerAlias=ac")
    assert set(answer["ids"]) == {f"m{n}" for n in range(0, 50, 2)}
    shown = {row.id for row in office.core.snapshot.models["acme"]}
    assert {f"m{n}" for n in range(1, 50, 2)} <= shown
    assert shown.isdisjoint(f"m{n}" for n in range(0, 50, 2))


async def test_one_of_many_gets_a_name_and_the_others_are_told(office: Office) -> None:
    node = {"name": "Mine", "prefix": "mine", "baseUrl": office.vendor.url}
    account = {"provider": "acme", "name": "main", "apiKey": KEY}

    nodes = await together(office, *[("POST", "/api/provider-nodes", node)] * 10)
    accounts = await together(office, *[("POST", "/api/providers", account)] * 10)
    combos = await together(office, *[("POST", "/api/combos", {"name": "one"})] * 10)

    assert (sorted(nodes), sorted(accounts)) == ([201, *[409] * 9], [201, *[409] * 9])
    assert sorted(combos) == [201, *[400] * 9]


async def test_two_halves_of_a_circle_are_not_both_closed(office: Office) -> None:
    first = await office.ask("POST", "/api/combos", {"name": "a"}, status=201)
    second = await office.ask("POST", "/api/combos", {"name": "b"}, status=201)

    statuses = await together(
        office,
        ("PUT", f"/api/combos/{first['id']}", {"models": ["b"]}),
        ("PUT", f"/api/combos/{second['id']}", {"models": ["a"]}),
    )

    assert sorted(statuses) == [200, 400]


async def test_a_key_and_a_move_at_once_never_meet(office: Office) -> None:
    """Whoever comes second sees what the first has done: an old key goes nowhere new."""
    row = await office.connect()
    path = f"/api/providers/{row['id']}"
    moves = [
        ("PUT", path, {"providerSpecificData": {"baseUrl": f"{base.url}/v1"}})
        for base in (office.other, office.vendor) * 5
    ]

    statuses = await together(office, *moves)
    await office.chat("acme/large")

    assert set(statuses) == {200}
    assert await office.stored(row["id"]) == {}
    assert all("authorization" not in asked.headers for asked in office.other.asked)


async def test_making_and_deleting_at_once_breaks_nothing(office: Office) -> None:
    rows = [await office.connect(name=str(number)) for number in range(10)]
    deletes = [("DELETE", f"/api/providers/{row['id']}", None) for row in rows] * 2
    creates = [
        ("POST", "/api/providers", {"provider": "acme", "name": f"new{n}", "apiKey": KEY})
        for n in range(10)
    ]

    statuses = await together(office, *deletes, *creates)

    assert sorted(statuses) == [*[200] * 10, *[201] * 10, *[404] * 10]
    stored = (await office.ask("GET", "/api/providers"))["connections"]
    assert [row["priority"] for row in stored] == list(range(1, 11))
    assert len(office.core.snapshot.accounts["acme"]) == 10
