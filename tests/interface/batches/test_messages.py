"""Batches of the messages style, whose requests come with them."""

import json
from typing import Any

import pytest
from batch_clients import BatchClient, BatchGateway, refusal, row, wait_for

from gateway_batches.runner import BatchRun

PATH = "/v1/messages/batches"


def request(number: int, **more: Any) -> dict[str, Any]:
    params = {"max_tokens": 9, **row(number)["body"], **more}
    return {"custom_id": f"row-{number}", "params": params}


def create(client: BatchClient, *requests: dict[str, Any]) -> dict[str, Any]:
    answer = client.http.post(PATH, json={"requests": requests})
    assert answer.status_code == 200, answer.text
    batch: dict[str, Any] = answer.json()
    return batch


def ended(client: BatchClient, id: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        batch: dict[str, Any] = client.http.get(f"{PATH}/{id}").json()
        return batch if batch["processing_status"] == "ended" else None

    found: dict[str, Any] = wait_for(look)
    return found


def results(client: BatchClient, batch: dict[str, Any]) -> dict[str, dict[str, Any]]:
    answer = client.http.get(batch["results_url"])
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert all(set(line) == {"custom_id", "result"} for line in found)
    return {line["custom_id"]: line["result"] for line in found}


def test_a_batch_is_run_and_gives_its_results(here: BatchGateway) -> None:
    client = here.client
    here.script.refusals["row 1"] = [refusal(400)]

    made = create(client, *(request(n) for n in range(3)))
    batch = ended(client, made["id"])

    assert made["type"] == "message_batch"
    assert made["processing_status"] == "in_progress"
    assert made["results_url"] is made["ended_at"] is made["cancel_initiated_at"] is None
    assert made["request_counts"] == {
        "processing": 3,
        "succeeded": 0,
        "errored": 0,
        "canceled": 0,
        "expired": 0,
    }
    assert made["created_at"] < made["expires_at"]
    assert batch["request_counts"] == {
        "processing": 0,
        "succeeded": 2,
        "errored": 1,
        "canceled": 0,
        "expired": 0,
    }
    assert batch["ended_at"] >= batch["created_at"]
    assert batch["results_url"] == f"{here.served.url}{PATH}/{batch['id']}/results"
    found = results(client, batch)
    assert found["row-0"]["type"] == "succeeded"
    assert found["row-0"]["message"]["content"][0]["text"] == "row 0"
    assert found["row-1"]["type"] == "errored"
    assert found["row-1"]["error"]["type"] == "error"
    # The requests themselves are not kept.
    assert not (here.folder / "batches" / batch["id"] / "input.jsonl").exists()


def test_the_requests_count_as_a_file_of_their_owner_until_the_batch_has_ended(
    here: BatchGateway,
) -> None:
    key = here.key()
    client = here.client_of(key)
    here.script.held.add("row 0")

    made = create(client, request(0, user="u" * 5000), request(1))
    (kept,) = client.http.get("/v1/files").json()["data"]
    here.script.held.clear()
    ended(client, made["id"])

    assert (kept["purpose"], kept["filename"]) == ("batch_input", f"{made['id']}-input.jsonl")
    assert kept["bytes"] > 5000
    content = here.folder / "files" / kept["id"] / "content"
    assert wait_for(lambda: not content.exists())
    assert client.http.get("/v1/files").json()["data"] == []


def test_requests_beyond_the_quota_are_refused(here: BatchGateway) -> None:
    client = here.client_of(here.key())
    client.upload(b"x" * 3000)
    here.operate("PATCH", "/api/settings", {"fileQuotaBytes": 5000})
    try:
        refused = client.http.post(PATH, json={"requests": [request(0, user="u" * 2000)]})
        made = create(client, request(1))
    finally:
        here.operate("PATCH", "/api/settings", {"fileQuotaBytes": 5 * 2**30})

    assert refused.status_code == 403
    assert refused.json()["type"] == "error"
    assert "5000 bytes" in refused.json()["error"]["message"]
    ended(client, made["id"])
    assert len(client.http.get(PATH).json()["data"]) == 1


def test_a_batch_whose_runner_breaks_keeps_no_requests(
    here: BatchGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(BatchRun, "_take_over", fail)
    client = here.client_of(here.key())

    made = create(client, request(0))

    assert ended(client, made["id"])["request_counts"]["processing"] == 0
    wait_for(lambda: not client.http.get("/v1/files").json()["data"])


def test_results_are_there_once_the_batch_has_ended(here: BatchGateway) -> None:
    client = here.client
    here.script.held.add("row 0")
    made = create(client, request(0))

    early = client.http.get(f"{PATH}/{made['id']}/results")
    here.script.held.clear()
    ended(client, made["id"])

    assert early.status_code == 400
    assert early.json()["error"]["type"] == "invalid_request_error"


def test_cancelled_requests_are_canceled_results(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held |= {"row 0", "row 1"}
    made = create(client, *(request(n) for n in range(5)))
    wait_for(lambda: script.total == 2)
    with here.posting(f"{PATH}/{made['id']}/cancel") as answer:
        shown = wait_for(
            lambda: (
                b
                if (b := client.http.get(f"{PATH}/{made['id']}").json())["cancel_initiated_at"]
                else None
            )
        )
        script.held.clear()
        batch = answer.result(30).json()

    assert shown["processing_status"] == "canceling"
    assert batch["processing_status"] == "ended"
    assert batch["request_counts"] == {
        "processing": 0,
        "succeeded": 2,
        "errored": 0,
        "canceled": 3,
        "expired": 0,
    }
    found = results(client, batch)
    assert {id for id, each in found.items() if each["type"] == "succeeded"} == {"row-0", "row-1"}
    assert [found[f"row-{n}"] for n in (2, 3, 4)] == [{"type": "canceled"}] * 3


def test_rows_are_sent_with_the_headers_of_the_request(here: BatchGateway) -> None:
    headers = {"anthropic-version": "2023-06-01", "user-agent": "night/1", "x-else": "no"}
    answer = here.client.http.post(PATH, json={"requests": [request(1)]}, headers=headers)

    batch = here.wait(answer.json()["id"])

    assert batch.headers["anthropic-version"] == "2023-06-01"
    assert batch.headers["user-agent"] == "night/1"
    assert set(batch.headers) <= {
        *("anthropic-version", "user-agent", "content-type", "accept"),
    }


BAD: dict[str, tuple[Any, str]] = {
    "none": ({"requests": []}, "requests must not be empty"),
    "no requests": ({}, "Invalid request body"),
    "no params": ({"requests": [{"custom_id": "a"}]}, "Invalid request body"),
    "params": ({"requests": [{"custom_id": "a", "params": 7}]}, "requests.0.params"),
    "custom_id": ({"requests": [{"custom_id": "", "params": {}}]}, "requests.0.custom_id"),
    "twice": ({"requests": [request(1), request(1)]}, "requests.1.custom_id"),
}


@pytest.mark.parametrize(("body", "message"), BAD.values(), ids=BAD)
def test_requests_that_make_no_sense_are_refused(
    here: BatchGateway, body: Any, message: str
) -> None:
    answer = here.client.http.post(PATH, json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(message)
