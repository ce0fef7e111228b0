"""Whole answers at each chat endpoint: paths that mean the same, counting, what is passed on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from chat_endpoints import BODIES, CLAUDE_VENDOR, GPT, GPT_VENDOR, PATHS, UUID, gpt_stream, post
from fake_vendor import MockResponse
from served_gateway import Served, serve_gateway

from gateway_core import Model, ProviderSpec
from gateway_core.contracts.kinds import Kind


@pytest.mark.parametrize("wire", PATHS)
def test_every_format_gets_an_answer(here: Served, http: httpx2.Client, wire: str) -> None:
    answer = post(http, here, wire)

    assert answer.status_code == 200
    assert "fine" in answer.text
    assert UUID.fullmatch(answer.headers["x-request-id"])


@pytest.mark.parametrize("prefix", ["", "/api", "/v1", "/v1/v1", "/api/v1"])
def test_prefixes_that_mean_the_same(here: Served, http: httpx2.Client, prefix: str) -> None:
    answer = http.post(f"{here.url}{prefix}/v1/chat/completions", json=BODIES["openai"])

    assert answer.status_code == 200


@pytest.mark.parametrize("prefix", ["/v1beta", "/api/v1beta", "/v1"])
@pytest.mark.parametrize("name", ["models/v-openai/m", "models/models/v-openai/m", "v-openai/m"])
def test_generative_paths(here: Served, http: httpx2.Client, prefix: str, name: str) -> None:
    path = f"{prefix}/{name}:generateContent"
    answer = http.post(here.url + path, json=BODIES["gemini"])

    assert answer.status_code == 200


def test_the_suffix_alone_decides_streaming(here: Served, http: httpx2.Client) -> None:
    GPT_VENDOR.say = lambda received: (
        MockResponse.stream(*gpt_stream("a", "b"))
        if received.json().get("stream")
        else MockResponse((GPT,))
    )
    path = f"{here.url}/v1beta/models/v-openai/m"

    whole = http.post(f"{path}:generateContent", json={**BODIES["gemini"], "stream": True})
    streamed = http.post(f"{path}:streamGenerateContent", json=BODIES["gemini"])

    assert whole.headers["content-type"] == "application/json"
    assert streamed.headers["content-type"].startswith("text/event-stream")


def test_a_model_of_another_kind_is_refused_on_chat_endpoints(
    tmp_path: Path, http: httpx2.Client
) -> None:
    def specs(vendors: Any) -> list[ProviderSpec]:
        url = vendors["openai"].url
        return [
            ProviderSpec(
                id="speaker",
                name="Speaker",
                base_url=url,
                models=(Model("voice-1", kind=Kind.SPEECH),),
            )
        ]

    with serve_gateway(tmp_path, {"openai": GPT_VENDOR}, specs=specs) as other:
        body = {**BODIES["openai"], "model": "speaker/voice-1"}
        answer = http.post(other.url + PATHS["openai"], json=body)

        assert answer.status_code == 400
        assert "not a chat model and cannot be used on chat endpoints" in answer.text
        assert not other.vendors["openai"].received


def test_an_answer_is_passed_on_byte_for_byte(here: Served, http: httpx2.Client) -> None:
    odd = GPT.replace(b'"created": 1', b'"created": 1,  "odd": [1.0, 1e2, 12345678901234567890123]')
    GPT_VENDOR.say = lambda _: MockResponse((odd,))

    answer = post(http, here, "openai", big=12345678901234567890123, exact=1.0)

    assert answer.content == odd
    sent = here.vendors["openai"].received[-1].body
    assert b'"exact":1.0' in sent
    assert b'"model":"m"' in sent


def test_what_the_target_cannot_express_is_named(here: Served, http: httpx2.Client) -> None:
    body = {
        "model": "v-claude/m",
        "messages": [{"role": "user", "content": "hi"}],
        "seed": 7,
        "logit_bias": {"1": 2},
    }
    answer = http.post(here.url + PATHS["openai"], json=body)

    assert answer.status_code == 200
    dropped = answer.headers["x-gateway-dropped"].split(", ")
    assert {"seed", "logit_bias"} <= set(dropped)
    assert set(dropped) <= set(here.rows()[0].dropped)


def test_credentials_and_cookies_of_the_client_are_not_passed_on(
    here: Served, http: httpx2.Client
) -> None:
    secret = {
        "authorization": "Bearer client-secret",
        "cookie": "client-secret=1",
        "x-api-key": "client-secret",
        "x-forwarded-user": "client-secret",
        "openai-organization": "client-secret",
    }
    http.post(here.url + PATHS["openai"], json=BODIES["openai"], headers=secret)

    received = here.vendors["openai"].received[-1]
    assert "client-secret" not in str(received.headers)


def test_counting_tokens(here: Served, http: httpx2.Client) -> None:
    CLAUDE_VENDOR.say = lambda _: MockResponse((b'{"input_tokens": 4711}',))
    path = f"{here.url}/v1/messages/count_tokens"
    body = {"messages": [{"role": "user", "content": "twelve chars"}]}

    native = http.post(path, json={**body, "model": "v-claude/m"})
    guessed = http.post(path, json={**body, "model": "v-openai/m"})
    nameless = http.post(path, json=body)

    assert native.json() == {"input_tokens": 4711}
    assert here.vendors["claude"].received[-1].target == "/messages/count_tokens"
    assert guessed.json() == {"input_tokens": 3, "approximate": True}
    assert nameless.json() == {"input_tokens": 3, "approximate": True}


@pytest.mark.parametrize("vendor", ["v-claude/m", "v-openai/m"])
def test_a_messages_request_that_ends_with_the_assistant_is_continued(
    here: Served, http: httpx2.Client, vendor: str
) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "The answer is"}]
    body = {"model": vendor, "max_tokens": 9, "messages": turns}

    http.post(here.url + PATHS["claude"], json=body)
    kept = {"x-gateway-assistant-prefill": "preserve"}
    http.post(here.url + PATHS["claude"], json=body, headers=kept)

    repaired, preserved = (received.json() for received in here.vendors[vendor[2:-2]].received[-2:])
    if vendor == "v-claude/m":
        assert [turn["role"] for turn in repaired["messages"]] == ["user", "assistant", "user"]
    assert preserved["messages"][-1]["role"] == "assistant"


BEGUN = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "A"}]
CONTINUED: Mapping[str, Mapping[str, Any]] = {
    "openai": {"messages": BEGUN},
    "openai-responses": {"input": BEGUN},
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "A"}]},
        ]
    },
    "ollama": {"messages": BEGUN},
}


@pytest.mark.parametrize("wire", CONTINUED)
def test_clients_of_every_format_may_keep_their_prefill(
    here: Served, http: httpx2.Client, wire: str
) -> None:
    body = {"model": "v-claude/m", "stream": False, **CONTINUED[wire]}
    path = PATHS[wire].replace("v-gemini", "v-claude")
    for headers in ({}, {"x-gateway-assistant-prefill": "preserve"}):
        http.post(here.url + path, json=body, headers=headers)

    repaired, preserved = (received.json() for received in here.vendors["claude"].received[-2:])

    assert repaired["messages"][-1]["role"] == "user"
    assert preserved["messages"][-1]["role"] == "assistant"


@pytest.mark.parametrize("value", ["true", "false"])
def test_thinking_is_left_out_of_whole_answers_where_the_operator_says_so(
    tmp_path: Path, http: httpx2.Client, value: str
) -> None:
    thought = GPT.replace(b'"content": "fine"', b'"content": "fine", "reasoning_content": "hm"')
    script = {"openai": lambda _: MockResponse((thought,))}
    with serve_gateway(tmp_path, script, variables={"STRIP_REASONING_CONTENT": value}) as here:
        for _ in range(2):  # a head that was seen before takes another way
            answer = http.post(here.url + PATHS["openai"], json=BODIES["openai"]).json()

            shown = "reasoning_content" in answer["choices"][0]["message"]
            assert shown is (value == "false")
