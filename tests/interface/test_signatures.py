"""A vendor that thinks gets its signed thinking back, whatever format the client speaks.

Each client asks, gets a tool call, and asks again with the tool's result, keeping what its SDK
keeps. The vendor must then see its own signature again, unchanged; another vendor must not.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model

Json = dict[str, Any]
SIGNATURE = "c2lnbmVkLWJ5LXRoZS12ZW5kb3I="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ANSWERS: dict[str, Json] = {
    "claude": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "hmm", "signature": SIGNATURE},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"city": "Oslo"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "hmm", "thought": True},
                        {
                            "functionCall": {"name": "look", "args": {"city": "Oslo"}},
                            "thoughtSignature": SIGNATURE,
                        },
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8},
        "modelVersion": "m",
        "responseId": "r1",
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "hmm"}],
                "encrypted_content": SIGNATURE,
            },
            {
                "id": "fc_1",
                "type": "function_call",
                "call_id": "call_1",
                "name": "look",
                "arguments": '{"city":"Oslo"}',
                "status": "completed",
            },
        ],
        "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    },
}
MODELS = {"claude": "claude-sonnet-4-5", "gemini": "gemini-3-pro", "openai-responses": "gpt-5"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def script(wire: str) -> Callable[[ReceivedRequest], MockResponse]:
        return lambda _: MockResponse((json.dumps(ANSWERS[wire]).encode(),))

    def specs(vendors: Any) -> list[Any]:
        return [
            keyless_provider(
                name.removesuffix("-2"),
                vendor,
                id=f"v-{name}",
                models=(Model(MODELS[name.removesuffix("-2")]),),
            )
            for name, vendor in vendors.items()
        ]

    scripts = {**{w: script(w) for w in ANSWERS}, **{f"{w}-2": script(w) for w in ANSWERS}}
    with serve_gateway(Path(tmp_path_factory.mktemp("gateway")), scripts, specs=specs) as running:
        yield running


def chat_first(model: str) -> Json:
    tool = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
    turns = [{"role": "user", "content": "where?"}]
    return {"model": model, "messages": turns, "tools": [tool], "reasoning_effort": "high"}


def chat_second(first: Json, answer: Json) -> Json:
    message = answer["choices"][0]["message"]
    (call,) = message["tool_calls"]
    kept = {"role": "assistant", "content": message["content"], "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "sunny"}
    return {**first, "messages": [*first["messages"], kept, result]}


def responses_first(model: str) -> Json:
    tool = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}
    turns = [{"role": "user", "content": "where?"}]
    return {"model": model, "input": turns, "tools": [tool], "reasoning": {"effort": "high"}}


def responses_second(first: Json, answer: Json) -> Json:
    call = next(item for item in answer["output"] if item["type"] == "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    return {**first, "input": [*first["input"], *answer["output"], result]}


def claude_first(model: str) -> Json:
    return {
        "model": model,
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 4000},
        "messages": [{"role": "user", "content": "where?"}],
        "tools": [{"name": "look", "input_schema": SCHEMA}],
    }


def claude_second(first: Json, answer: Json) -> Json:
    call = next(block for block in answer["content"] if block["type"] == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "sunny"}
    kept = {"role": "assistant", "content": answer["content"]}
    return {**first, "messages": [*first["messages"], kept, {"role": "user", "content": [result]}]}


def gemini_first(model: str) -> Json:
    return {
        "contents": [{"role": "user", "parts": [{"text": "where?"}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 4000}},
    }


def gemini_second(first: Json, answer: Json) -> Json:
    content = answer["candidates"][0]["content"]
    call = next(p["functionCall"] for p in content["parts"] if "functionCall" in p)
    result: Json = {"name": "look", "response": {"result": "sunny"}}
    if "id" in call:
        result["id"] = call["id"]
    reported = {"role": "user", "parts": [{"functionResponse": result}]}
    return {**first, "contents": [*first["contents"], content, reported]}


CLIENTS: dict[str, tuple[Callable[[str], Json], Callable[[Json, Json], Json]]] = {
    "openai": (chat_first, chat_second),
    "openai-responses": (responses_first, responses_second),
    "claude": (claude_first, claude_second),
    "gemini": (gemini_first, gemini_second),
}
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "claude": "/v1/messages",
}


def post(http: httpx2.Client, here: Served, client: str, model: str, body: Json) -> Json:
    path = PATHS.get(client, f"/v1beta/models/{model}:generateContent")
    answer = http.post(
        here.url + path, json={**body, "model": model} if client != "gemini" else body
    )
    assert answer.status_code == 200, answer.text
    document: Json = answer.json()
    return document


def holds_proof(vendor: str, sent: Json) -> bool:
    """Whether the vendor's request has its signature in the right member."""
    if vendor == "claude":
        turn = next(t for t in sent["messages"] if t["role"] == "assistant")
        blocks = turn["content"]
        kinds = [block["type"] for block in blocks]
        signed = [b for b in blocks if b.get("signature") == SIGNATURE and b["thinking"] == "hmm"]
        return bool(signed) and kinds.index("thinking") < kinds.index("tool_use")
    if vendor == "gemini":
        parts = [part for turn in sent["contents"] for part in turn["parts"]]
        return any("functionCall" in p and p.get("thoughtSignature") == SIGNATURE for p in parts)
    kinds = [item.get("type") for item in sent["input"]]
    sealed = [i for i in sent["input"] if i.get("encrypted_content") == SIGNATURE]
    return bool(sealed) and kinds.index("reasoning") < kinds.index("function_call")


@pytest.mark.parametrize("vendor", ANSWERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_vendor_sees_its_own_signature_again(
    here: Served, http: httpx2.Client, client: str, vendor: str
) -> None:
    first, second = CLIENTS[client]
    model = f"v-{vendor}/{MODELS[vendor]}"
    received = first(model)

    answer = post(http, here, client, model, received)
    post(http, here, client, model, second(received, answer))

    sent = here.vendors[vendor].received[-1].json()
    assert holds_proof(vendor, sent)
    assert "_gwS1_" not in json.dumps(sent)
    assert "sunny" in json.dumps(sent)


@pytest.mark.parametrize("other", ["claude", "gemini", "openai-responses"])
@pytest.mark.parametrize("vendor", ANSWERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_another_vendor_does_not(
    here: Served, http: httpx2.Client, client: str, vendor: str, other: str
) -> None:
    first, second = CLIENTS[client]
    if client == vendor == other:
        # The client's own bytes pass unread between vendors of its format.
        return
    received = first(f"v-{vendor}/{MODELS[vendor]}")
    elsewhere = f"v-{other}-2/{MODELS[other]}"

    answer = post(http, here, client, f"v-{vendor}/{MODELS[vendor]}", received)
    post(http, here, client, elsewhere, second(received, answer))

    sent = json.dumps(here.vendors[f"{other}-2"].received[-1].json())
    assert "_gwS1_" not in sent
    assert "X2d3UzFf" not in sent
    assert "sunny" in sent
    if client != vendor:
        assert SIGNATURE not in sent
