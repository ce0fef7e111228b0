"""The vendors' own SDKs as clients of a served gateway, and vendors that replay recordings.

The model's name names the recording, so the fake vendor knows what to say.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import anthropic
import ollama
import openai
import plain_readers
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from google import genai
from google.genai import types as genai_types
from plain_readers import Outcome
from served_gateway import Served

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


def script(wire: str, known: dict[str, Item]) -> Callable[[ReceivedRequest], MockResponse]:
    """Replays the recording named by the requested model."""

    def say(received: ReceivedRequest) -> MockResponse:
        named = received.target.partition("/models/")[2].partition(":")[0]
        item = known[named or received.json()["model"]]
        body = answer(item)
        if item["stream"]:
            third = max(1, len(body) // 3)
            pieces = [body[start : start + third] for start in range(0, len(body), third)]
            kind = STREAM_TYPES.get(wire, "text/event-stream")
            return MockResponse.stream(*pieces, content_type=kind)
        return MockResponse((body,), status=item["response_status"])

    return say


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
