"""The vendors' own SDKs, with files and batches of the gateway."""

import io
import json
from typing import Any

import anthropic
import openai
from batch_clients import BatchGateway, lines, row, wait_for


def test_the_completions_sdk_runs_a_batch(here: BatchGateway) -> None:
    key = here.key()
    with openai.OpenAI(base_url=f"{here.served.url}/v1", api_key=key["key"]) as client:
        content = io.BytesIO(lines([row(n) for n in range(3)]))
        content.name = "night.jsonl"
        uploaded = client.files.create(file=content, purpose="batch")
        made = client.batches.create(
            input_file_id=uploaded.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"night": "1"},
        )
        ended = wait_for(lambda: _over(client.batches.retrieve(made.id)))
        again = client.batches.cancel(made.id)
        listed = list(client.batches.list(limit=1))
        output = client.files.content(ended.output_file_id).text

    assert made.status == "validating"
    assert made.metadata == {"night": "1"}
    assert ended.status == again.status == "completed"
    assert ended.request_counts.total == ended.request_counts.completed == 3
    assert [each.id for each in listed] == [made.id]
    assert {json.loads(line)["custom_id"] for line in output.splitlines()} == {
        *("row-0", "row-1", "row-2")
    }


def test_the_completions_sdk_pages_through_batches(here: BatchGateway) -> None:
    key = here.key()
    client = here.client_of(key)
    ids = [client.create([row(1)])["id"] for _ in range(5)]

    with openai.OpenAI(base_url=f"{here.served.url}/v1", api_key=key["key"]) as sdk:
        listed = [each.id for each in sdk.batches.list(limit=2)]

    assert listed == ids[::-1]


def test_the_completions_sdk_cancels_a_batch(here: BatchGateway) -> None:
    here.script.held |= {"row 0", "row 1"}
    id = here.client.create([row(n) for n in range(4)])["id"]
    wait_for(lambda: here.script.total == 2)

    with (
        openai.OpenAI(base_url=f"{here.served.url}/v1", api_key="none") as sdk,
        here.posting(f"/v1/batches/{id}/cancel"),
    ):
        wait_for(lambda: sdk.batches.retrieve(id).status == "cancelling")
        here.script.held.clear()
        cancelled = sdk.batches.cancel(id)

    assert cancelled.status == "cancelled"
    assert cancelled.request_counts is not None
    assert cancelled.request_counts.completed == 2


def test_the_messages_sdk_runs_a_batch(here: BatchGateway) -> None:
    key = here.key()
    requests: Any = [
        {"custom_id": f"row-{n}", "params": {"max_tokens": 9, **row(n)["body"]}} for n in range(3)
    ]
    with anthropic.Anthropic(base_url=here.served.url, api_key=key["key"]) as client:
        made = client.messages.batches.create(requests=requests)
        ended = wait_for(lambda: _over(client.messages.batches.retrieve(made.id)))
        results = {each.custom_id: each.result for each in client.messages.batches.results(made.id)}
        again = client.messages.batches.cancel(made.id)
        ids = [client.messages.batches.create(requests=requests[:1]).id for _ in range(4)]
        listed = [each.id for each in client.messages.batches.list(limit=2)]

    assert made.processing_status == "in_progress"
    assert ended.request_counts.succeeded == 3
    assert again.processing_status == "ended"
    assert {each.type for each in results.values()} == {"succeeded"}
    assert results["row-1"].message.content[0].text == "row 1"  # type: ignore[union-attr]
    assert listed == [*ids[::-1], made.id]


def _over(batch: Any) -> Any:
    status = getattr(batch, "processing_status", None) or batch.status
    return batch if status in ("ended", "completed", "failed", "cancelled") else None
