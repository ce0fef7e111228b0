"""The vendors' own clients, pointed at the facade, before vendors that replay recorded traffic."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import cohere
import corpus
import httpx
import httpx2
import openai
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from native_gateway import Native, NativeGateway

HAIKU = "anthropic/claude-haiku-4-5"
BATCH = "msgbatch_01GSR2pUkGcad188iHy2BkZH"
CANCELED = "msgbatch_016z7nD8oj5sT4pMEcEnvJQQ"
FILE = "file_011CcQH3nbP5brKi4DsVcj7j"


class Replay:
    """Answers a request with what was recorded for its method and path."""

    def __init__(self, recorded: tuple[corpus.Item, ...], *only: str) -> None:
        """``only`` are words that an item of a path that occurs twice holds."""
        self.answers: dict[str, corpus.Item] = {}
        for item in recorded:
            is_wanted = not only or any(word in str(item) for word in only)
            if is_wanted and item["response_status"] == 200:
                self.answers.setdefault(item["endpoint"].partition("?")[0], item)

    def say(self, received: ReceivedRequest) -> MockResponse:
        item = self.answers.get(f"{received.method} {received.path}")
        if item is None:
            return MockResponse((b'{"error":{"message":"not recorded"}}',), status=404)
        kind = item["response_headers"]["content-type"]
        return MockResponse((corpus.answer(item),), content_type=kind)


def client(gateway: NativeGateway, pin: str = "") -> anthropic.Anthropic:
    headers = {"x-connection-id": pin} if pin else {}
    return anthropic.Anthropic(
        base_url=f"{gateway.here.url}/v1/native/anthropic",
        api_key=gateway.key("sdk")["key"],
        default_headers=headers,
        default_query={"model": HAIKU},
        max_retries=0,
    )


def test_anthropics_client_has_batches(native: Native) -> None:
    gateway = native(Replay(corpus.items("native"), BATCH).say)
    row: Any = {
        "custom_id": "0",
        "params": {
            "model": HAIKU,
            "max_tokens": 10,
            "messages": [{"role": "user", "content": "hi"}],
        },
    }
    with client(gateway) as sdk:
        made = sdk.messages.batches.with_raw_response.create(requests=[row])
        pinned = sdk.with_options(
            default_headers={"x-connection-id": made.headers["x-gateway-connection-id"]}
        )
        ended = pinned.messages.batches.retrieve(made.parse().id)
        # The results' address in the answer is the vendor's own, so the path is asked for.
        path = f"/v1/messages/batches/{ended.id}/results"
        lines = pinned.get(path, cast_to=httpx2.Response).text.splitlines()

    assert (made.parse().id, ended.processing_status) == (BATCH, "ended")
    assert gateway.received[0].json()["requests"][0]["params"]["model"] == "claude-haiku-4-5"
    assert len(lines) == 1
    assert '"succeeded"' in lines[0]


def test_anthropics_client_cancels_a_batch(native: Native) -> None:
    gateway = native(Replay(corpus.items("native"), CANCELED).say)
    row: Any = {"custom_id": "0", "params": {"model": HAIKU, "max_tokens": 1, "messages": []}}
    with client(gateway) as sdk:
        made = sdk.messages.batches.with_raw_response.create(requests=[row])
        pin = made.headers["x-gateway-connection-id"]
        pinned = sdk.with_options(default_headers={"x-connection-id": pin})
        canceled = pinned.messages.batches.cancel(CANCELED)
        with pytest.raises(anthropic.PermissionDeniedError, match="Unknown native resource owner"):
            pinned.messages.batches.retrieve("msgbatch_other")

    assert canceled.processing_status == "canceling"


def test_anthropics_client_has_files(native: Native) -> None:
    gateway = native(Replay(corpus.items("native"), FILE).say)
    with client(gateway) as sdk:
        made = sdk.beta.files.with_raw_response.upload(file=("data.csv", b"a,b\n1,2\n", "text/csv"))
        pin = made.headers["x-gateway-connection-id"]
        gone = sdk.with_options(default_headers={"x-connection-id": pin}).beta.files.delete(FILE)

    assert made.parse().filename == "data.csv"
    assert gone.id == FILE
    assert b"1,2\n" in gateway.received[0].body


def answers(name: str, endpoint: str, *, stream: bool) -> Iterator[corpus.Item]:
    for item in corpus.items(name):
        is_sound = item["response_status"] == 200 and item["fidelity"] == "wire"
        is_wanted = item["vendor"] == "openai" and item["endpoint"] == endpoint
        has_usage = item["stream"] is stream and "usage" in str(item["response_body"])
        if is_sound and is_wanted and has_usage:
            yield item


def test_openais_client_has_chat_and_responses(native: Native) -> None:
    chat = next(answers("openai_chat", "POST /v1/chat/completions", stream=True))
    whole = next(answers("openai_responses", "POST /v1/responses", stream=False))

    def say(received: ReceivedRequest) -> MockResponse:
        if received.path.endswith("/chat/completions"):
            return MockResponse.stream(corpus.answer(chat))
        return MockResponse((corpus.answer(whole),))

    gateway = native(say)
    url, key = f"{gateway.here.url}/v1/native/openai/v1", gateway.key("sdk")["key"]
    model = "openai/gpt-4o"
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as sdk:
        stream = sdk.chat.completions.create(model=model, messages=[], stream=True)
        chunks = list(stream)
        made = sdk.responses.with_raw_response.create(model=model, input="hi")
        pin = {"x-connection-id": made.headers["x-gateway-connection-id"]}
        response = made.parse()
        with pytest.raises(openai.PermissionDeniedError, match="Unknown native resource owner"):
            sdk.responses.retrieve("resp_x", extra_headers=pin, extra_query={"model": model})

    rows = gateway.rows()
    usage = next(chunk.usage for chunk in reversed(chunks) if chunk.usage is not None)
    assert response.usage is not None
    assert {(row.input_tokens, row.output_tokens) for row in rows} >= {
        (usage.prompt_tokens, usage.completion_tokens),
        (response.usage.input_tokens, response.usage.output_tokens),
    }


def test_openais_client_speaks_to_xai(native: Native) -> None:
    whole = next(answers("openai_responses", "POST /v1/responses", stream=False))
    gateway = native(lambda received: MockResponse((corpus.answer(whole),)))
    url = f"{gateway.here.url}/v1/native/xai/v1"
    with openai.OpenAI(base_url=url, api_key=gateway.key("sdk")["key"], max_retries=0) as sdk:
        response = sdk.responses.create(model="xai/grok-4", input="hi")

    assert response.output_text
    assert gateway.received[0].json()["model"] == "grok-4"


def test_recorded_vectors_of_cohere_come_back_as_they_were(native: Native) -> None:
    items = [
        item
        for item in corpus.items("cohere_embed")
        if item["response_status"] == 200 and item["request_body_kind"] == "json"
    ]
    for item in items[:1]:
        gateway = native(lambda received, item=item: MockResponse((corpus.answer(item),)))
        body = {**item["request_body"], "model": "cohere/embed-v4.0"}
        found = gateway.call("POST", "cohere/v2/embed", json=body)
        assert found.content == corpus.answer(item)
        [row] = gateway.rows()
        billed = found.json().get("meta", {}).get("billed_units", {})
        assert row.input_tokens == billed.get("input_tokens", row.input_tokens)
    assert items


def test_coheres_client_ranks(native: Native) -> None:
    item = next(
        each
        for each in corpus.items("rerank")
        if each["vendor"] == "cohere" and "/v2/rerank" in each["endpoint"]
    )
    gateway = native(lambda received: MockResponse((corpus.answer(item),)))

    with httpx.Client() as connection:
        client = cohere.ClientV2(
            gateway.key("sdk")["key"],
            base_url=f"{gateway.here.url}/v1/native/cohere",
            httpx_client=connection,
        )
        received = {**item["request_body"], "model": "cohere/rerank-v3.5"}
        ranked = client.rerank(**received)

    assert gateway.received[0].path == "/v2/rerank"
    assert gateway.received[0].json() == {**item["request_body"], "model": "rerank-v3.5"}
    assert [each.relevance_score for each in ranked.results] == [
        each["relevance_score"] for each in json.loads(corpus.answer(item))["results"]
    ]
