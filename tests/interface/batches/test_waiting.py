"""Rows that wait, and batches that are cancelled."""

import time
from typing import Any

from batch_clients import BatchGateway, refusal, row, wait_for


def test_a_vendors_429_is_waited_for(here: BatchGateway) -> None:
    here.script.refusals["row 1"] = [refusal(429, retry_after="1"), refusal(429, retry_after="1")]

    ended = here.client.wait(here.client.create([row(n) for n in range(3)])["id"])

    assert ended["request_counts"] == {"total": 3, "completed": 3, "failed": 0, "canceled": 0}
    assert here.script.written["row 1"] == 3
    # Every try has a row of its own in the ledger.
    tries = [each for each in here.served.rows() if each.http_status == 429 and each.attempts]
    assert len({each.request_id for each in tries}) == len(tries) >= 2


def test_accounts_that_rest_are_waited_for(here: BatchGateway) -> None:
    here.script.refusals["row 0"] = [refusal(500)]
    here.set(rowsAtOnce=1)
    here.operate("PATCH", "/api/settings", {"retryDelayByProvider": {"v-openai": 1}})

    ended = here.client.wait(here.client.create([row(n) for n in range(3)])["id"])
    here.set(rowsAtOnce=2)

    statuses = {
        line["custom_id"]: line["response"]["status_code"] for line in here.client.output(ended)
    }
    assert statuses == {"row-0": 500, "row-1": 200, "row-2": 200}


def test_a_limit_of_the_key_that_ends_soon_is_waited_for(here: BatchGateway) -> None:
    key = here.key(policy={"rpmLimit": 3})
    client = here.client_of(key)

    id = client.create([row(n) for n in range(5)])["id"]
    wait_for(lambda: here.script.total == 3)
    wait_for(lambda: [r for r in here.served.rows() if is_refused(r, key)])
    waiting = client.get(id)
    here.operate("PATCH", f"/api/keys/{key['id']}", {"policy": {"rpmLimit": None}})
    client.http.post(f"/v1/batches/{id}/cancel")

    assert waiting["status"] == "in_progress"
    assert waiting["request_counts"]["failed"] == 0


def is_refused(row: Any, key: Any) -> bool:
    return bool(row.api_key_id == key["id"] and row.http_status == 429)


def test_rows_wait_for_interactive_requests(here: BatchGateway) -> None:
    script, client = here.script, here.client
    script.held |= {"interactive 0", "interactive 1"}
    here.set(yieldAbove=1)
    path = "/v1/chat/completions"
    received = [
        {**row(0)["body"], "messages": [{"role": "user", "content": t}]} for t in script.held
    ]
    with here.posting(path, received[0]), here.posting(path, received[1]):
        wait_for(lambda: script.total == 2)
        id = client.create([row(n) for n in range(2)])["id"]
        wait_for(lambda: client.get(id)["status"] == "in_progress")
        # A row that did not wait would have been sent long before an interactive one has ended.
        answer = client.http.post(path, json=row(7)["body"])
        assert answer.status_code == 200
        assert client.get(id)["request_counts"]["completed"] == 0
        assert script.total == 3
        script.held.pop()
        ended = client.wait(id)
        script.held.clear()
    here.set(yieldAbove=16)

    assert ended["request_counts"]["completed"] == 2


def test_cancelling_lets_the_rows_under_way_finish(here: BatchGateway) -> None:
    script, client = here.script, here.client
    script.held |= {"row 0", "row 1"}
    id = client.create([row(n) for n in range(6)])["id"]
    wait_for(lambda: script.total == 2)
    with here.posting(f"/v1/batches/{id}/cancel") as answer:
        wait_for(lambda: client.get(id)["status"] == "cancelling")
        assert not answer.done()
        script.held.clear()
        cancelled: dict[str, Any] = answer.result(30).json()

    assert cancelled["status"] == "cancelled"
    assert cancelled["cancelled_at"] >= cancelled["cancelling_at"]
    assert cancelled["request_counts"] == {"total": 6, "completed": 2, "failed": 0, "canceled": 4}
    assert {line["custom_id"] for line in client.output(cancelled)} == {"row-0", "row-1"}
    left = client.errors(cancelled)
    assert [line["custom_id"] for line in left] == [f"row-{n}" for n in range(2, 6)]
    assert left[0]["response"] is None
    assert left[0]["error"]["type"] == "error"
    assert left[0]["error"]["error"]["type"] == "batch_cancelled"
    assert script.total == 2


def test_cancelling_gives_up_a_row_that_waits(here: BatchGateway) -> None:
    here.script.refusals["row 0"] = [refusal(429, retry_after="3000")]
    here.set(rowsAtOnce=1)
    client = here.client
    id = client.create([row(n) for n in range(3)])["id"]
    wait_for(lambda: here.script.total == 1)

    begun = time.monotonic()
    cancelled = client.http.post(f"/v1/batches/{id}/cancel").json()
    here.set(rowsAtOnce=2)
    here.served.do(here.forget_cooldowns())

    assert time.monotonic() - begun < 10
    assert cancelled["status"] == "cancelled"
    assert cancelled["request_counts"] == {"total": 3, "completed": 0, "failed": 0, "canceled": 3}
    assert [line["custom_id"] for line in client.errors(cancelled)] == ["row-0", "row-1", "row-2"]


def test_cancelling_a_batch_that_is_over_changes_nothing(here: BatchGateway) -> None:
    client = here.client
    ended = client.wait(client.create([row(1)])["id"])

    assert client.http.post(f"/v1/batches/{ended['id']}/cancel").json() == ended
