"""The operator sees the batches of all keys, and ends them."""

from typing import Any

import httpx2
import pytest
from batch_clients import BatchGateway, row, wait_for

from gateway_core.identity.credentials import CLI_HEADER

PATH = "/api/batches"
REQUESTS = {"requests": [{"custom_id": "a", "params": {**row(1)["body"], "max_tokens": 9}}]}


def call(here: BatchGateway, method: str, path: str) -> httpx2.Response:
    """What the operator is answered."""
    token = {CLI_HEADER: here.served.gateway.core.identity.cli_token}
    return httpx2.request(
        method, f"{here.served.url}{path}", headers=token, trust_env=False, timeout=60
    )


def rows(here: BatchGateway, query: str = "") -> list[dict[str, Any]]:
    answer = call(here, "GET", f"{PATH}?{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def test_the_batches_of_all_keys_are_listed(here: BatchGateway) -> None:
    ann, ben = here.key(name="ann"), here.key(name="ben")
    first = here.client_of(ann).create([row(1), row(2)])
    second = here.client_of(ben).http.post("/v1/messages/batches", json=REQUESTS).json()
    here.wait(first["id"])
    here.wait(second["id"])

    newest, older = rows(here)[:2]

    assert (newest["id"], newest["ownerName"], newest["surface"]) == (
        second["id"],
        "ben",
        "messages",
    )
    assert (older["id"], older["owner"], older["status"]) == (first["id"], ann["id"], "completed")
    assert (older["total"], older["completed"], older["failed"]) == (2, 2, 0)
    assert older["outputFileId"]
    assert older["endedAt"] >= older["createdAt"]
    assert [each["id"] for each in rows(here, f"owner={ann['id']}")] == [first["id"]]
    assert [each["id"] for each in rows(here, f"owner={ben['id']}&status=open")] == []
    assert [each["id"] for each in rows(here, "limit=1&offset=1")] == [first["id"]]
    assert [each["id"] for each in rows(here, "surface=messages&limit=1")] == [second["id"]]


def test_a_batch_under_way_shows_how_far_it_is_and_is_cancelled(here: BatchGateway) -> None:
    here.script.held = {"row 2"}
    key = here.key(name="ann")
    id = here.client_of(key).create([row(1), row(2), row(3), row(4)])["id"]

    def is_held() -> dict[str, Any] | None:
        found: dict[str, Any] = call(here, "GET", f"{PATH}/{id}").json()
        return found if found["completed"] == 3 and found["underWay"] == 1 else None

    shown = wait_for(is_held)
    assert (shown["status"], shown["total"]) == ("in_progress", 4)
    assert id in {each["id"] for each in rows(here, "status=open")}
    assert call(here, "DELETE", f"{PATH}/{id}").status_code == 409

    answer = call(here, "POST", f"{PATH}/{id}/cancel")

    assert answer.json()["status"] in ("cancelling", "cancelled")
    here.script.held.clear()
    assert here.wait(id).status == "cancelled"
    assert call(here, "POST", f"{PATH}/{id}/cancel").status_code == 409
    recorded = call(here, "GET", f"/api/audit?action=batch.cancel&target={id}").json()
    assert recorded["total"] == 1


def test_an_ended_batch_is_deleted_and_its_results_stay(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    batch = client.wait(client.create([row(1)])["id"])

    assert call(here, "DELETE", f"{PATH}/{batch['id']}").json() == {"success": True}

    assert client.http.get(f"/v1/batches/{batch['id']}").status_code == 404
    assert call(here, "GET", f"{PATH}/{batch['id']}").status_code == 404
    assert len(client.output(batch)) == 1


def test_results_of_messages_are_downloaded(here: BatchGateway) -> None:
    made = here.client_of(here.key()).http.post("/v1/messages/batches", json=REQUESTS).json()
    here.wait(made["id"])

    answer = call(here, "GET", f"{PATH}/{made['id']}/results")

    assert answer.json()["custom_id"] == "a"
    assert f"{made['id']}-results.jsonl" in answer.headers["content-disposition"]


def test_results_of_completions_are_files(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    batch = client.wait(client.create([row(1)])["id"])

    assert call(here, "GET", f"{PATH}/{batch['id']}/results").status_code == 409
    content = call(here, "GET", f"/api/files/{batch['output_file_id']}/content")
    assert content.json()["custom_id"] == "row-1"


def test_no_key_sees_the_batches_of_others(here: BatchGateway) -> None:
    client = here.client_of(here.key())

    assert client.http.get(PATH).status_code == 403


@pytest.mark.parametrize("query", ["status=over", "surface=x", "limit=201", "after=x"])
def test_a_query_that_makes_no_sense_is_refused(here: BatchGateway, query: str) -> None:
    assert call(here, "GET", f"{PATH}?{query}").status_code == 400
