"""Rows run under their creator's key, with its policy and limits as they are at that moment."""

from typing import Any

import pytest
from batch_clients import BatchGateway, row, wait_for

LATE = [f"row-{n}" for n in range(2, 6)]


def run_with_change(
    here: BatchGateway, key: dict[str, Any], *change: Any
) -> dict[str, tuple[int, Any]]:
    """The status and body of each of six rows; something changes while the first two are under
    way."""
    client, script = here.client_of(key), here.script
    script.held |= {"row 0", "row 1"}
    id = client.create([row(n) for n in range(6)])["id"]
    wait_for(lambda: script.total == 2)
    here.operate(*change)
    script.held.clear()
    ended = here.wait(id)
    assert script.total == ended.completed
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
    here: BatchGateway, method_and_body: tuple[str, Any]
) -> None:
    key, (method, body) = here.key(), method_and_body

    found = run_with_change(here, key, method, f"/api/keys/{key['id']}", body)

    assert [found[f"row-{n}"][0] for n in (0, 1)] == [200, 200]
    assert {found[id][0] for id in LATE} == {401}
    assert found[LATE[0]][1]["error"]["message"] == "Invalid API key"


def test_a_policy_that_changes_holds_for_the_rows_that_follow(here: BatchGateway) -> None:
    key = here.key()
    change = {"policy": {"allowedModels": ["v-openai/other"]}}

    found = run_with_change(here, key, "PATCH", f"/api/keys/{key['id']}", change)

    assert [found[f"row-{n}"][0] for n in (0, 1)] == [200, 200]
    assert {found[id][0] for id in LATE} == {403}


def test_a_limit_that_is_used_up_refuses_the_rows_that_follow(here: BatchGateway) -> None:
    key = here.key(policy={"monthlyRequestLimit": 3})
    here.set(rowsAtOnce=1)
    client = here.client_of(key)

    ended = client.wait(client.create([row(n) for n in range(5)])["id"])
    here.set(rowsAtOnce=2)

    output = {each["custom_id"]: each["response"] for each in client.output(ended)}
    statuses = [output[f"row-{n}"]["status_code"] for n in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert "monthly requests limit" in output["row-4"]["body"]["error"]["message"]
    assert here.script.total == 3


def test_rows_without_a_key_follow_the_setting(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held |= {"row 0", "row 1"}
    id = client.create([row(n) for n in range(4)])["id"]
    wait_for(lambda: script.total == 2)
    here.operate("PATCH", "/api/settings", {"requireApiKey": True})
    try:
        refused = client.http.get(f"/v1/batches/{id}")
        script.held.clear()
        ended = here.wait(id)
    finally:
        here.operate("PATCH", "/api/settings", {"requireApiKey": False})

    assert refused.status_code == 401
    assert (ended.completed, ended.failed) == (2, 2)
    output = client.content(ended.output_file_id)
    assert sorted(line["response"]["status_code"] for line in output) == [200, 200, 401, 401]


def test_rows_are_charged_to_their_key(here: BatchGateway) -> None:
    key = here.key()
    client = here.client_of(key)

    ended = client.wait(client.create([row(n) for n in range(3)])["id"])

    ids = {line["response"]["request_id"] for line in client.output(ended)}
    rows = [each for each in here.served.rows() if each.request_id in ids]
    assert {each.api_key_id for each in rows} == {key["id"]}
    assert sum(each.output_tokens for each in rows) == 6
