"""Rows run under their creator's key, with its policy and limits as they are at that moment."""

from typing import Any

import pytest
from batch_clients import House, row, wait_for

LATE = [f"row-{n}" for n in range(2, 6)]


def run_with_change(house: House, key: dict[str, Any], *change: Any) -> dict[str, tuple[int, Any]]:
    """The status and body of each of six rows; something changes while the first two are under
    way."""
    client, lab = house.client_of(key), house.lab
    lab.held |= {"row 0", "row 1"}
    id = client.create([row(n) for n in range(6)])["id"]
    wait_for(lambda: lab.total == 2)
    house.operate(*change)
    lab.held.clear()
    ended = house.wait(id)
    assert lab.total == ended.completed
    found = client.content(ended.output_file_id)
    return {
        line["custom_id"]: (line["response"]["status_code"], line["response"]["body"])
        for line in found
    }


CHANGES: dict[str, tuple[str, Any]] = {
    "deleted": ("DELETE", None),
    "paused": ("PATCH", {"isActive": False}),
    "expired": ("PATCH", {"expiresAt": "2020-01-01T00:00:00Z"}),
}


@pytest.mark.parametrize("method_and_body", CHANGES.values(), ids=CHANGES)
def test_rows_of_a_key_that_is_no_longer_good_are_refused(
    house: House, method_and_body: tuple[str, Any]
) -> None:
    key, (method, body) = house.key(), method_and_body

    found = run_with_change(house, key, method, f"/api/keys/{key['id']}", body)

    assert [found[f"row-{n}"][0] for n in (0, 1)] == [200, 200]
    assert {found[id][0] for id in LATE} == {401}
    assert found[LATE[0]][1]["error"]["message"] == "Invalid API key"


def test_a_policy_that_changes_holds_for_the_rows_that_follow(house: House) -> None:
    key = house.key()
    change = {"policy": {"allowedModels": ["v-openai/other"]}}

    found = run_with_change(house, key, "PATCH", f"/api/keys/{key['id']}", change)

    assert [found[f"row-{n}"][0] for n in (0, 1)] == [200, 200]
    assert {found[id][0] for id in LATE} == {403}


def test_a_limit_that_is_used_up_refuses_the_rows_that_follow(house: House) -> None:
    key = house.key(policy={"monthlyRequestLimit": 3})
    house.set(rowsAtOnce=1)
    client = house.client_of(key)

    ended = client.wait(client.create([row(n) for n in range(5)])["id"])
    house.set(rowsAtOnce=2)

    output = {each["custom_id"]: each["response"] for each in client.output(ended)}
    statuses = [output[f"row-{n}"]["status_code"] for n in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert "monthly requests limit" in output["row-4"]["body"]["error"]["message"]
    assert house.lab.total == 3


def test_rows_without_a_key_follow_the_setting(house: House) -> None:
    client, lab = house.client, house.lab
    lab.held |= {"row 0", "row 1"}
    id = client.create([row(n) for n in range(4)])["id"]
    wait_for(lambda: lab.total == 2)
    house.operate("PATCH", "/api/settings", {"requireApiKey": True})
    try:
        refused = client.http.get(f"/v1/batches/{id}")
        lab.held.clear()
        ended = house.wait(id)
    finally:
        house.operate("PATCH", "/api/settings", {"requireApiKey": False})

    assert refused.status_code == 401
    assert (ended.completed, ended.failed) == (2, 2)
    output = client.content(ended.output_file_id)
    assert sorted(line["response"]["status_code"] for line in output) == [200, 200, 401, 401]


def test_rows_are_charged_to_their_key(house: House) -> None:
    key = house.key()
    client = house.client_of(key)

    ended = client.wait(client.create([row(n) for n in range(3)])["id"])

    ids = {line["response"]["request_id"] for line in client.output(ended)}
    rows = [each for each in house.served.rows() if each.request_id in ids]
    assert {each.api_key_id for each in rows} == {key["id"]}
    assert sum(each.output_tokens for each in rows) == 6
