"""The vendors' own SDKs as clients, over a socket, with recorded answers behind the gateway.

Every pair of client and vendor format, whole and streamed. The model's name
names the recording, so the fake vendor knows what to say.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import plain_readers
import pytest
from corpus import Item, answer, items
from fake_vendor import Asked, Said
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types
from plain_readers import Outcome
from served_gateway import Served, serve_gateway

FOLDERS = {
    "openai": "openai_chat",
    "openai-responses": "openai_responses",
    "claude": "anthropic_messages",
    "gemini": "gemini_generate_content",
    "ollama": "ollama_chat",
}
STREAM_TYPES = {"ollama": "application/x-ndjson"}
ODD = {
    *("server_tools", "error_in_200", "error_mid_stream", "joined_turns", "json_array_stream"),
    *("truncated", "citations", "image_output", "audio_output", "code_execution", "mcp"),
    *("web_search", "multi_choice", "refusal", "bad_json_event", "no_parts", "stateful"),
}
SCENARIOS = {"text": {"text"}, "tool": {"tool_call"}, "parallel": {"parallel_tools"}}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def pick(wire: str, scenario: str, stream: bool) -> Item:
    """The first regular recording of the scenario."""
    # The vendor's own recordings first: others speak the dialect less exactly.
    for item in sorted(items(FOLDERS[wire]), key=lambda item: item["vendor"] != "openai"):
        features = set(item["features"])
        if item["response_status"] != 200 or item["stream"] != stream or features & ODD:
            continue
        if wire == "ollama" and not item["endpoint"].endswith("/api/chat"):
            continue
        expected = plain_readers.read(wire, answer(item), stream=stream)
        shown = expected.calls or (scenario == "text" and "tool_call" not in features)
        if features >= SCENARIOS[scenario] and shown and expected.input_tokens:
            return item
    raise LookupError(f"no recording of {scenario} for {wire}")


def recordings() -> dict[str, dict[str, Item]]:
    return {wire: {item["id"]: item for item in items(folder)} for wire, folder in FOLDERS.items()}


def script(wire: str, known: dict[str, Item]) -> Callable[[Asked], Said]:
    """Replays the recording named by the requested model."""

    def say(asked: Asked) -> Said:
        named = asked.target.partition("/models/")[2].partition(":")[0]
        item = known[named or asked.json()["model"]]
        body = answer(item)
        if item["stream"]:
            third = max(1, len(body) // 3)
            pieces = [body[start : start + third] for start in range(0, len(body), third)]
            kind = STREAM_TYPES.get(wire, "text/event-stream")
            return Said.stream(*pieces, content_type=kind)
        return Said((body,), status=item["response_status"])

    return say


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    scripts = {wire: script(wire, known) for wire, known in recordings().items()}
    with serve_gateway(Path(tmp_path_factory.mktemp("gateway")), scripts) as running:
        yield running


def ask_openai(here: Served, model: str, stream: bool) -> Outcome:
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    request: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        if not stream:
            whole = client.chat.completions.create(**request, tools=[tool])
            return plain_readers.openai(whole.model_dump_json().encode())
        wanted = {"include_usage": True}
        with client.chat.completions.stream(**request, stream_options=wanted) as events:
            final = events.until_done().get_final_completion()
    return plain_readers.openai(final.model_dump_json().encode())


def ask_responses(here: Served, model: str, stream: bool) -> Outcome:
    request: dict[str, Any] = {
        "model": model,
        "input": "hi",
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}],
    }
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        if not stream:
            whole = client.responses.create(**request)
            return plain_readers.responses(whole.model_dump_json().encode())
        with client.responses.stream(**request) as events:
            final = events.until_done().get_final_response()
    return plain_readers.responses(final.model_dump_json().encode())


def ask_claude(here: Served, model: str, stream: bool) -> Outcome:
    request: dict[str, Any] = {
        "model": model,
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "weather", "input_schema": SCHEMA}],
    }
    with anthropic.Anthropic(base_url=here.url, api_key="none", max_retries=0) as client:
        if not stream:
            whole = client.messages.create(**request)
            return plain_readers.claude(whole.model_dump_json().encode())
        with client.messages.stream(**request) as events:
            final = events.get_final_message()
    return plain_readers.claude(final.model_dump_json().encode())


def ask_gemini(here: Served, model: str, stream: bool) -> Outcome:
    options = genai_types.HttpOptions(base_url=here.url)
    with closing(genai.Client(api_key="none", http_options=options)) as client:
        if not stream:
            whole = client.models.generate_content(model=model, contents="hi")
            return plain_readers.gemini(as_json(whole))
        found = Outcome()
        for chunk in client.models.generate_content_stream(model=model, contents="hi"):
            reply = plain_readers.gemini(as_json(chunk))
            found.text += reply.text
            found.calls += reply.calls
            found.input_tokens = reply.input_tokens or found.input_tokens
            found.output_tokens = reply.output_tokens or found.output_tokens
    return found


def as_json(answer: genai_types.GenerateContentResponse) -> bytes:
    return answer.model_dump_json(by_alias=True, exclude_none=True).encode()


def ask_ollama(here: Served, model: str, stream: bool) -> Outcome:
    request: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    client = ollama.Client(host=here.url)
    with closing(client._client):
        reply = client.chat(**request, stream=stream)
        rows = list(reply) if stream else [reply]
    return plain_readers.ollama(b"\n".join(row.model_dump_json().encode() for row in rows))


CLIENTS: dict[str, Callable[[Served, str, bool], Outcome]] = {
    "openai": ask_openai,
    "openai-responses": ask_responses,
    "claude": ask_claude,
    "gemini": ask_gemini,
    "ollama": ask_ollama,
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("vendor", FOLDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_gets_the_vendors_answer(
    here: Served, client: str, vendor: str, scenario: str, stream: bool
) -> None:
    item = pick(vendor, scenario, stream)
    expected = plain_readers.read(vendor, answer(item), stream=stream)

    reply = CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert reply.text == expected.text
    assert reply.calls == expected.calls
    assert reply.input_tokens == expected.input_tokens
    assert reply.output_tokens == expected.output_tokens
    row = here.rows()[0]
    assert (row.input_tokens, row.output_tokens) == (expected.input_tokens, expected.output_tokens)
    assert (row.status, row.client_format, row.provider) == ("ok", client, f"v-{vendor}")


def refused(wire: str) -> Item:
    return next(item for item in items(FOLDERS[wire]) if item["response_status"] in (400, 404))


ERRORS: dict[str, tuple[type[Exception], Callable[[Any], int]]] = {
    "openai": (openai.APIStatusError, lambda error: error.status_code),
    "openai-responses": (openai.APIStatusError, lambda error: error.status_code),
    "claude": (anthropic.APIStatusError, lambda error: error.status_code),
    "gemini": (genai_errors.APIError, lambda error: error.code),
    "ollama": (ollama.ResponseError, lambda error: error.status_code),
}


def plain_message(body: bytes) -> str:
    """The vendor's own words."""
    reply = json.loads(body)
    reply = reply[0] if isinstance(reply, list) else reply
    error = reply.get("error", reply)
    return error if isinstance(error, str) else error["message"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("vendor", FOLDERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_raises_its_own_error_with_the_vendors_message(
    here: Served, client: str, vendor: str, stream: bool
) -> None:
    item = refused(vendor)
    kind, status_of = ERRORS[client]

    core = here.gateway.core
    core.cooldowns.clear([f"v-{vendor}:public"], "__all")
    with pytest.raises(kind) as caught:
        CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert status_of(caught.value) == item["response_status"]
    words = plain_message(answer(item)).split("\n")[0][:60]
    assert words in str(caught.value).replace("\\'", "'").replace('\\"', '"')
    assert here.rows()[0].status == "error"
