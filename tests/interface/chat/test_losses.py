"""What could not be carried is named: in the head, at the end of a stream, in the usage row."""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import ollama
import openai
import pytest
from chat_endpoints import BODIES, CLAUDE_VENDOR, GPT_VENDOR, PATHS, gpt_stream
from fake_vendor import MockResponse
from google import genai
from google.genai import types as genai_types
from served_gateway import Served

CITED = {
    "type": "char_location",
    "cited_text": "so",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 2,
}
"""A source without an address, which chat and responses answers have no place for."""
TRAILER = b": x-gateway-dropped: "


def claude_stream() -> list[bytes]:
    """A search, whose block only this format knows, and a text with a source."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    text = {"type": "text_delta", "text": "so"}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": text},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "citations_delta", "citation": CITED},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": search},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]


def ask_chat(url: str) -> str:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "hi"}]
        with client.chat.completions.stream(model="v-claude/m", messages=messages) as events:
            return events.until_done().get_final_completion().choices[0].message.content or ""


def ask_responses(url: str) -> str:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.stream(model="v-claude/m", input="hi") as events,
    ):
        return events.until_done().get_final_response().output_text


@pytest.mark.parametrize(
    ("wire", "ask"), [("openai", ask_chat), ("openai-responses", ask_responses)]
)
def test_a_stream_ends_with_what_was_lost_while_it_ran(
    here: Served, http: httpx2.Client, wire: str, ask: Callable[[str], str]
) -> None:
    CLAUDE_VENDOR.say = lambda _: MockResponse.stream(*claude_stream())
    body = {**BODIES[wire], "model": "v-claude/m", "stream": True}

    reported = http.post(here.url + PATHS[wire], json=body)

    frames = reported.content.split(b"\n\n")
    (named,) = [frame for frame in frames if frame.startswith(TRAILER)]
    names = named.removeprefix(TRAILER).decode().split(", ")
    assert "part:server_tool_use" in names
    assert "citations" in names
    # Behind it come the last frames only, because many clients read no further.
    assert frames.index(named) > [b"so" in frame for frame in frames].index(True)
    assert list(here.rows()[0].dropped) == names

    assert ask(here.url) == "so"


def test_a_messages_stream_ends_with_what_was_lost_while_it_ran(
    here: Served, http: httpx2.Client
) -> None:
    def chunk(choice: dict[str, Any]) -> bytes:
        return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n".encode()

    logprobs = {"content": [{"token": "so", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
    frames = (
        chunk({"index": 0, "delta": {"role": "assistant", "content": "so"}, "logprobs": logprobs}),
        chunk({"index": 0, "delta": {}, "finish_reason": "stop"}),
        b"data: [DONE]\n\n",
    )
    GPT_VENDOR.say = lambda _: MockResponse.stream(*frames)

    reported = http.post(here.url + PATHS["claude"], json={**BODIES["claude"], "stream": True})
    with anthropic.Anthropic(base_url=here.url, api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "hi"}]
        request: Any = {"model": "v-openai/m", "max_tokens": 9, "messages": messages}
        with client.messages.stream(**request) as events:
            words = events.get_final_text()

    assert words == "so"
    end = reported.content.rpartition(TRAILER)[2].split(b"\n\n")
    assert end[0] == b"logprobs"
    assert [frame.split(b"\n")[0] for frame in end[1:]] == [
        b"event: message_delta",
        b"event: message_stop",
        b"",
    ]
    assert [row.dropped for row in here.rows()[:2]] == [("logprobs",)] * 2


def ask_gemini(url: str) -> str:
    options = genai_types.HttpOptions(base_url=url)
    client = genai.Client(api_key="none", http_options=options)
    try:
        chunks = list(client.models.generate_content_stream(model="v-claude/m", contents="hi"))
        return "".join(each.candidates[0].content.parts[0].text for each in chunks[:-1])  # type: ignore[index,union-attr,misc]
    finally:
        client.close()


def ask_ollama(url: str) -> str:
    with ollama.Client(host=url) as client:
        messages = [{"role": "user", "content": "hi"}]
        chunks = list(client.chat(model="v-claude/m", messages=messages, stream=True))
        assert [each.done for each in chunks] == [False] * (len(chunks) - 1) + [True]
        return "".join(each.message.content or "" for each in chunks)


@pytest.mark.parametrize(
    ("wire", "path", "ask"),
    [
        ("gemini", "/v1beta/models/v-claude/m:streamGenerateContent?alt=sse", ask_gemini),
        ("ollama", "/api/chat", ask_ollama),
    ],
)
def test_clients_that_fail_on_comments_get_a_frame_with_a_further_member(
    here: Served, http: httpx2.Client, wire: str, path: str, ask: Callable[[str], str]
) -> None:
    CLAUDE_VENDOR.say = lambda _: MockResponse.stream(*claude_stream())
    body = {**BODIES[wire], "model": "v-claude/m", "stream": True}
    if wire == "gemini":
        body = BODIES[wire]

    answer = http.post(here.url + path, json=body)

    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.strip()]
    frames = [json.loads(line) for line in lines]
    (named,) = [frame for frame in frames if "x-gateway-dropped" in frame]
    names = named["x-gateway-dropped"].split(", ")
    assert "part:server_tool_use" in names
    assert frames.index(named) == len(frames) - 2
    assert list(here.rows()[0].dropped) == names

    assert ask(here.url) == "so"


@pytest.mark.parametrize(
    ("wire", "path", "more", "name"),
    [
        (
            "gemini",
            "/v1beta/models/v-openai/m:streamGenerateContent?alt=sse",
            {"generationConfig": {"topK": 3}},
            "generationConfig.topK",
        ),
        ("ollama", "/api/chat", {"stream": True, "options": {"top_k": 3}}, "options.top_k"),
    ],
)
def test_their_streams_that_opened_early_begin_with_it(
    here: Served,
    http: httpx2.Client,
    early: float,
    wire: str,
    path: str,
    more: dict[str, Any],
    name: str,
) -> None:
    GPT_VENDOR.say = lambda _: MockResponse.stream(*gpt_stream("late"), delay=3 * early)

    answer = http.post(here.url + path, json={**BODIES[wire], **more})

    assert "x-gateway-dropped" not in answer.headers
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.strip()]
    assert json.loads(lines[0])["x-gateway-dropped"] == name
    assert json.loads(lines[1])


def test_a_stream_that_lost_nothing_ends_as_ever(here: Served, http: httpx2.Client) -> None:
    GPT_VENDOR.say = lambda _: MockResponse.stream(*gpt_stream("a", "b"))
    body = {**BODIES["claude"], "stream": True, "top_k": 3}

    reported = http.post(here.url + PATHS["claude"], json=body)

    assert reported.headers["x-gateway-dropped"] == "top_k"
    assert b"dropped" not in reported.content


def test_a_stream_that_opened_early_begins_with_what_its_head_could_not_name(
    here: Served, http: httpx2.Client, early: float
) -> None:
    GPT_VENDOR.say = lambda _: MockResponse.stream(*gpt_stream("late"), delay=3 * early)
    body = {**BODIES["claude"], "stream": True, "top_k": 3}

    reported = http.post(here.url + PATHS["claude"], json=body)

    assert "x-gateway-dropped" not in reported.headers
    frames = reported.content.split(b"\n\n")
    begun = [frame.startswith(b"event: message_start") for frame in frames].index(True)
    assert frames[begun - 1] == TRAILER + b"top_k"


SPELLINGS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    (
        "openai",
        "v-claude/m",
        {"n": 2, "prompt_cache_key": "k", "seed": 1},
        ["n", "prompt_cache_key", "seed"],
    ),
    ("openai", "v-claude/m", {"response_format": {"type": "json_object"}}, ["response_format"]),
    ("openai-responses", "v-claude/m", {"prompt_cache_key": "k"}, ["prompt_cache_key"]),
    ("openai-responses", "v-claude/m", {"store": False, "include": []}, []),
    ("claude", "v-openai/m", {"top_k": 3, "container": None}, ["top_k"]),
    ("ollama", "v-claude/m", {"options": {"seed": 3}}, ["options.seed"]),
    ("ollama", "v-claude/m", {"format": "json"}, ["format"]),
    ("gemini", "v-openai/m", {"generationConfig": {"topK": 3}}, ["generationConfig.topK"]),
]


@pytest.mark.parametrize(("wire", "model", "members", "names"), SPELLINGS)
def test_a_loss_is_named_as_the_client_spells_it(
    here: Served,
    http: httpx2.Client,
    wire: str,
    model: str,
    members: dict[str, Any],
    names: list[str],
) -> None:
    body = {**BODIES[wire], **members}
    if "model" in body:
        body["model"] = model

    reported = http.post(here.url + PATHS[wire], json=body)

    assert reported.status_code == 200
    dropped = reported.headers.get("x-gateway-dropped")
    assert sorted(dropped.split(", ") if dropped else []) == sorted(names)
    assert sorted(here.rows()[0].dropped) == sorted(names)


def test_what_only_the_vendors_own_clients_know_is_no_loss(
    here: Served, http: httpx2.Client
) -> None:
    answer = json.loads(GPT_VENDOR.usual)
    answer |= {"system_fingerprint": "fp", "service_tier": "default", "x_own": {"a": 1}}
    answer["choices"][0] |= {"native_finish_reason": "STOP", "content_filter_results": {}}
    GPT_VENDOR.say = lambda _: MockResponse((json.dumps(answer).encode(),))

    reported = http.post(here.url + PATHS["claude"], json=BODIES["claude"])

    assert reported.status_code == 200
    assert "x-gateway-dropped" not in reported.headers
