"""Batches of the completions style, from their creation to their files."""

import logging
from typing import Any

import pytest
from batch_clients import BatchGateway, lines, refusal, row, wait_for

from gateway_batches import completion_routes, runner

IDS = [f"row-{n}" for n in range(5)]


def status_codes(output: list[dict[str, Any]]) -> dict[str, int]:
    return {line["custom_id"]: line["response"]["status_code"] for line in output}


def test_a_batch_is_run_and_leaves_its_answers(here: BatchGateway) -> None:
    client, before = here.client, {row.request_id for row in here.served.rows()}

    created = client.create([row(n) for n in range(5)], metadata={"night": "1"})
    ended = client.wait(created["id"])

    rows = {row.request_id for row in here.served.rows()} - before
    assert created["status"] == "validating"
    assert created["object"] == "batch"
    assert created["endpoint"] == "/v1/chat/completions"
    assert created["completion_window"] == "24h"
    assert created["metadata"] == {"night": "1"}
    assert created["expires_at"] == created["created_at"] + 86400
    assert created["request_counts"] == {"total": 5, "completed": 0, "failed": 0, "canceled": 0}
    assert ended["status"] == "completed"
    assert ended["request_counts"] == {"total": 5, "completed": 5, "failed": 0, "canceled": 0}
    for moment in ("in_progress_at", "finalizing_at", "completed_at"):
        assert ended[moment] >= created["created_at"]
    assert ended["errors"] is ended["error_file_id"] is ended["failed_at"] is None
    output = client.output(ended)
    assert sorted(line["custom_id"] for line in output) == IDS
    for line in output:
        written = line["response"]["body"]["choices"][0]["message"]["content"]
        assert written == f"row {line['custom_id'][4:]}"
        assert line["response"]["status_code"] == 200
        assert line["error"] is None
        assert line["id"].startswith("batchreq_")
    assert {line["response"]["request_id"] for line in output} == rows


def test_the_result_files_say_what_they_are(here: BatchGateway) -> None:
    ended = here.client.wait(here.client.create([row(1)])["id"])

    record = here.client.files.find("local", ended["output_file_id"])
    # The working files are gone.
    wait_for(lambda: not (here.folder / "batches" / ended["id"]).exists())
    assert record is not None
    assert record.purpose == "batch_output"
    assert record.filename == f"{ended['id']}-output.jsonl"


def test_a_refused_row_is_an_answer_and_counts_as_failed(here: BatchGateway) -> None:
    here.script.refusals["row 1"] = [refusal(400)]

    ended = here.client.wait(here.client.create([row(0), row(1), row(2, model="no/m")])["id"])

    assert ended["status"] == "completed"
    assert ended["request_counts"] == {"total": 3, "completed": 1, "failed": 2, "canceled": 0}
    output = here.client.output(ended)
    assert status_codes(output) == {"row-0": 200, "row-1": 400, "row-2": 404}
    failed = next(line for line in output if line["custom_id"] == "row-2")["response"]
    assert failed["body"]["error"]["request_id"] == failed["request_id"]


def test_a_batch_of_which_every_row_fails_has_failed(here: BatchGateway) -> None:
    ended = here.client.wait(here.client.create([row(n, model="no/m") for n in range(3)])["id"])

    assert ended["status"] == "failed"
    assert ended["failed_at"] == ended["completed_at"]
    assert ended["request_counts"]["failed"] == 3
    assert status_codes(here.client.output(ended)) == dict.fromkeys(IDS[:3], 404)


def test_a_streamed_row_is_kept_as_the_text_of_its_stream(here: BatchGateway) -> None:
    ended = here.client.wait(here.client.create([row(7, stream=True)])["id"])

    body = here.client.output(ended)[0]["response"]["body"]
    assert body.startswith("data: {")
    assert body.endswith("data: [DONE]\n\n")
    assert "row 7" in body


def test_every_endpoint_serves_rows(here: BatchGateway) -> None:
    messages = {"max_tokens": 5}
    vectors = {"custom_id": "v", "method": "POST", "url": "/v1/embeddings"}
    vectors["body"] = {"model": "v-openai/e", "input": "hi"}  # type: ignore[assignment]
    responses = {"custom_id": "r", "method": "POST", "url": "/v1/responses"}
    responses["body"] = {"model": "v-openai/m", "input": "hi"}  # type: ignore[assignment]
    kinds = {
        "/v1/messages": row(1, "/v1/messages", **messages),
        "/v1/embeddings": vectors,
        "/v1/responses": responses,
    }
    client = here.client

    answers = {}
    for endpoint, one in kinds.items():
        ended = client.wait(client.create([one], endpoint=endpoint)["id"])
        answers[endpoint] = client.output(ended)[0]["response"]["body"]

    assert answers["/v1/messages"]["content"][0]["text"] == "row 1"
    assert answers["/v1/messages"]["type"] == "message"
    assert answers["/v1/embeddings"]["data"][0]["embedding"] == [0.25, 1e-7]
    assert answers["/v1/responses"]["object"] == "response"


def test_deleting_the_input_does_not_disturb_a_batch(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held |= {"row 0", "row 1"}
    created = client.create([row(n) for n in range(4)])
    wait_for(lambda: script.total == 2)

    assert client.files.delete("local", created["input_file_id"])
    script.held.clear()
    ended = client.wait(created["id"])

    assert ended["request_counts"]["completed"] == 4
    assert ended["input_file_id"] == created["input_file_id"]


def test_progress_shows_while_a_batch_runs(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held.add("row 3")
    id = client.create([row(n) for n in range(4)])["id"]

    wait_for(lambda: client.get(id)["request_counts"]["completed"] == 3)
    running = client.get(id)
    script.held.clear()
    client.wait(id)

    assert running["status"] == "in_progress"
    assert running["output_file_id"] is None
    assert running["request_counts"] == {"total": 4, "completed": 3, "failed": 0, "canceled": 0}


def test_two_rows_are_under_way_at_a_time(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held |= {f"row {n}" for n in range(6)}
    id = client.create([row(n) for n in range(6)])["id"]

    wait_for(lambda: script.total == 2)
    script.held.discard("row 0")
    wait_for(lambda: script.total == 3)
    under_way = script.total - client.get(id)["request_counts"]["completed"]
    script.held.clear()

    assert under_way == 2
    assert client.wait(id)["status"] == "completed"


BAD = {
    "no json": (b"{", "line 1: the line is not valid JSON"),
    "no object": (b"[]", "line 1: Expected `object`, got `array`"),
    "no custom_id": (b'{"method":"POST","url":"/v1/chat/completions","body":{}}', "line 1: "),
    "empty custom_id": (lines([{**row(1), "custom_id": ""}]), "line 1: custom_id"),
    "method": (lines([{**row(1), "method": "GET"}]), "line 1: method must be POST"),
    "url": (lines([{**row(1), "url": "/v1/models"}]), "line 1: url must be one of"),
    "other url": (lines([row(1), row(2, "/v1/embeddings")]), "line 2: url must be the endpoint"),
    "body": (lines([{**row(1), "body": 7}]), "line 1: body must be an object"),
    "twice": (lines([row(1), row(2), row(1)]), "line 3: custom_id row-1 occurs twice"),
    "no rows": (b"\n \n", "the file has no rows"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_an_input_with_a_bad_line_is_refused(
    here: BatchGateway, content: bytes, message: str
) -> None:
    answer = here.client.try_create(content)

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["message"].startswith(f"invalid input file: {message}")
    assert error["details"][0]["message"]
    assert list((here.folder / "batches").iterdir()) == []


def test_every_bad_line_is_listed_with_its_number(here: BatchGateway) -> None:
    answer = here.client.try_create(lines([row(1)]) + b"\n{\n" + lines([row(2)]) + b"[]\n")

    assert [each["line"] for each in answer.json()["error"]["details"]] == [3, 5]


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "window": ({"completion_window": "1h"}, 400, "completion_window must be 24h"),
    "endpoint": ({"endpoint": "/v1/models"}, 400, "endpoint must be one of"),
    "no file": ({"input_file_id": f"file_{'0' * 24}"}, 404, "No such file"),
    "no id": ({"input_file_id": "../../etc"}, 400, "invalid id"),
    "metadata": ({"metadata": {"a": 1}}, 400, "Invalid request body"),
}


@pytest.mark.parametrize(("more", "status", "message"), REFUSED.values(), ids=REFUSED)
def test_a_request_that_makes_no_sense_is_refused(
    here: BatchGateway, more: dict[str, Any], status: int, message: str
) -> None:
    body = {"input_file_id": here.client.upload([row(1)]), **more}

    answer = here.client.http.post("/v1/batches", json=body)

    assert answer.status_code == status
    assert answer.json()["error"]["message"].startswith(message)


@pytest.mark.parametrize("is_bad", [False, True])
def test_an_input_that_takes_long_is_checked_behind_the_answer(
    here: BatchGateway, is_bad: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion_routes, "CHECK_WITHIN", -1.0)
    content = lines(row(n) for n in range(300)) + (b"{\n" if is_bad else b"")
    key = here.key()
    client = here.client_of(key)
    here.set(rowsPerMinute=1)

    created = client.create(content)
    checked = client.wait(created["id"], "in_progress", "failed")
    client.http.post(f"/v1/batches/{created['id']}/cancel")
    here.set(rowsPerMinute=0)

    assert created["status"] == "validating"
    assert created["request_counts"]["total"] == 0
    if is_bad:
        assert checked["status"] == "failed"
        assert [each["line"] for each in checked["errors"]["data"]] == [301]
    else:
        assert checked["request_counts"]["total"] == 300


PAIRS = {f"{'k' * 62}{n:02}": "v" * 512 for n in range(16)}
"""As much as the vendor takes: https://platform.openai.com/docs/api-reference/batch/create."""


def test_metadata_come_back(here: BatchGateway) -> None:
    made = here.client.create([row(0)], metadata=PAIRS)

    assert made["metadata"] == PAIRS
    assert here.client.wait(made["id"])["metadata"] == PAIRS
    page = here.client.http.get("/v1/batches?limit=1").json()
    assert page["data"][0]["metadata"] == PAIRS


@pytest.mark.parametrize(
    "metadata",
    [{**PAIRS, "more": ""}, {"k" * 65: "v"}, {"k": "v" * 513}, {"k": 1}, {"k": {}}, []],
    ids=["pairs", "name", "value", "number", "object", "list"],
)
def test_metadata_have_a_size(here: BatchGateway, metadata: Any) -> None:
    refused = here.client.try_create([row(0)], metadata=metadata)

    assert refused.status_code == 400
    assert "metadata" in refused.json()["error"]["message"]


def test_progress_is_in_the_log(
    here: BatchGateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runner, "LOG_AFTER", 0.0)
    here.script.refusals["row 1"] = [refusal(400)]
    with caplog.at_level(logging.INFO, "gateway_batches"):
        id = here.client.create([row(n) for n in range(6)])["id"]
        # The last line follows the state that it is about.
        ended = f"batch {id} is completed: 6 rows, 5 completed, 1 failed"
        wait_for(lambda: ended in caplog.messages)

    lines = [each for each in caplog.messages if id in each]
    assert f"batch {id}: 6 of 6 rows are done, 1 of them failed" in lines
    done = [int(each.split()[2]) for each in lines if "rows are done" in each]
    assert done == sorted(done)
    assert len(set(done)) > 2


def test_an_owner_has_so_many_batches_at_a_time(here: BatchGateway) -> None:
    here.script.held |= {"row 0", "row 1"}
    client = here.client_of(here.key())
    here.set(openPerOwner=1)
    id = client.create([row(0)])["id"]

    refused = client.try_create([row(1)])
    here.script.held.clear()
    client.wait(id)
    again = client.try_create([row(1)])
    here.set(openPerOwner=100)

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "60"
    assert again.status_code == 200


@pytest.mark.parametrize("path", ["/v1/batches", "/v1/messages/batches"])
def test_a_body_that_is_no_json_is_refused(here: BatchGateway, path: str) -> None:
    answer = here.client.http.post(path, content=b"{}", headers={"content-type": "text/plain"})

    assert answer.status_code == 415


def test_an_unknown_batch_is_not_there(here: BatchGateway) -> None:
    http = here.client.http

    statuses = [
        http.get(f"/v1/batches/batch_{'0' * 24}").status_code,
        http.post(f"/v1/batches/batch_{'0' * 24}/cancel").status_code,
        http.get("/v1/batches/elsewhere").status_code,
        http.get(f"/v1/messages/batches/msgbatch_{'0' * 24}").status_code,
    ]

    assert statuses == [404, 404, 400, 404]
