"""The vendors' own SDKs as agents: they think, call two tools at once and give the results back.

Each SDK returns what it got the way its documentation tells, so that what the
gateway made of another vendor's answer has to survive the way back.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types as genai_types
from minimal_requests import MODELS, PNG
from served_gateway import Served, keyless_provider, serve_gateway
from tool_loop_vendor import CALLS, DONE, HEAR, RESULTS, THOUGHT, WORDS, vendor

from gateway_core import Model

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "number"}}}


@dataclass
class Outcome:
    """The two answers, as an SDK read them."""

    thought: str = ""
    words: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    done: str = ""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def specs(vendors: Any) -> list[Any]:
        models = {wire: (Model(MODELS[wire], reasoning=True),) for wire in vendors}
        return [keyless_provider(wire, each, models=models[wire]) for wire, each in vendors.items()]

    folder = Path(tmp_path_factory.mktemp("gateway"))
    with serve_gateway(folder, {wire: vendor(wire) for wire in MODELS}, specs=specs) as running:
        yield running


def ask_openai(here: Served, model: str, stream: bool) -> Outcome:
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages: list[Any] = [{"role": "user", "content": "how is it?"}]
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:

        def ask() -> Any:
            request: Any = {"model": model, "messages": messages, "reasoning_effort": "low"}
            if not stream:
                whole = client.chat.completions.create(**request, tools=[tool])
                return whole.choices[0].message
            with client.chat.completions.stream(**request, tools=[tool]) as events:
                return events.until_done().get_final_completion().choices[0].message

        first = ask()
        outcome = Outcome(getattr(first, "reasoning_content", ""), first.content)
        messages.append(first.model_dump(exclude_none=True, exclude={"parsed"}))
        for call, result in zip(first.tool_calls, RESULTS, strict=True):
            outcome.calls.append((call.function.name, json.loads(call.function.arguments)))
            outcome.ids.append(call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        outcome.done = ask().content
    return outcome


def ask_responses(here: Served, model: str, stream: bool) -> Outcome:
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
    messages: list[Any] = [{"role": "user", "content": "how is it?"}]
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:

        def ask() -> Any:
            request: Any = {"model": model, "input": messages, "tools": [tool]}
            request["reasoning"] = {"effort": "low", "summary": "auto"}
            if not stream:
                return client.responses.create(**request)
            with client.responses.stream(**request) as events:
                return events.until_done().get_final_response()

        first = ask()
        outcome = Outcome(words=first.output_text)
        messages += first.output
        for item in first.output:
            if item.type == "reasoning":
                # The one place where agents look, as they asked for a summary.
                outcome.thought += "".join(each.text for each in item.summary)
            elif item.type == "function_call":
                outcome.calls.append((item.name, json.loads(item.arguments)))
                outcome.ids.append(item.call_id)
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        outputs: list[Any] = [RESULTS[0], [{"type": "input_text", "text": RESULTS[1]}, picture]]
        for call_id, output in zip(outcome.ids, outputs, strict=True):
            messages.append({"type": "function_call_output", "call_id": call_id, "output": output})
        outcome.done = ask().output_text
    return outcome


def ask_claude(here: Served, model: str, stream: bool) -> Outcome:
    messages: list[Any] = [{"role": "user", "content": "how is it?"}]
    with anthropic.Anthropic(base_url=here.url, api_key="none", max_retries=0) as client:

        def ask() -> Any:
            request: Any = {"model": model, "max_tokens": 5000, "messages": messages}
            request["thinking"] = {"type": "enabled", "budget_tokens": 2000}
            request["tools"] = [{"name": "weather", "input_schema": SCHEMA}]
            if not stream:
                return client.messages.create(**request)
            with client.messages.stream(**request) as events:
                return events.get_final_message()

        first = ask()
        outcome = Outcome()
        for block in first.content:
            outcome.thought += block.thinking if block.type == "thinking" else ""
            outcome.words += block.text if block.type == "text" else ""
            if block.type == "tool_use":
                outcome.calls.append((block.name, block.input))
                outcome.ids.append(block.id)
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        picture = {"type": "image", "source": source}
        shown: list[Any] = [RESULTS[0], [{"type": "text", "text": RESULTS[1]}, picture]]
        results = [
            {"type": "tool_result", "tool_use_id": call_id, "content": content}
            for call_id, content in zip(outcome.ids, shown, strict=True)
        ]
        # Agents drop the thinking of another model than the one that they asked.
        kept = (
            first.content
            if first.model == model
            else [block for block in first.content if block.type != "thinking"]
        )
        messages += (
            {"role": "assistant", "content": kept},
            {"role": "user", "content": results},
        )
        outcome.done = "".join(block.text for block in ask().content)
    return outcome


def ask_gemini(here: Served, model: str, stream: bool) -> Outcome:
    tool = genai_types.FunctionDeclaration(name="weather", parameters_json_schema=SCHEMA)
    config = genai_types.GenerateContentConfig(
        tools=[genai_types.Tool(function_declarations=[tool])],
        thinking_config=genai_types.ThinkingConfig(include_thoughts=True, thinking_budget=500),
    )
    messages = [genai_types.Content(role="user", parts=[genai_types.Part(text="how is it?")])]
    options = genai_types.HttpOptions(base_url=here.url)
    with closing(genai.Client(api_key="none", http_options=options)) as client:

        def ask() -> list[genai_types.Content]:
            request: Any = {"model": model, "contents": messages, "config": config}
            if stream:
                pieces = list(client.models.generate_content_stream(**request))
            else:
                pieces = [client.models.generate_content(**request)]
            return [piece.candidates[0].content for piece in pieces if piece.candidates]  # type: ignore[misc]

        outcome = Outcome()
        first = ask()
        messages += first
        for part in (part for content in first for part in content.parts or ()):
            if part.function_call:
                outcome.calls.append((part.function_call.name or "", part.function_call.args))
                outcome.ids.append(part.function_call.id or "")
            elif part.thought:
                outcome.thought += part.text or ""
            else:
                outcome.words += part.text or ""
        results = [
            genai_types.Part(
                function_response=genai_types.FunctionResponse(
                    name="weather", id=call_id or None, response={"result": result}
                )
            )
            for call_id, result in zip(outcome.ids, RESULTS, strict=True)
        ]
        messages.append(genai_types.Content(role="user", parts=results))
        outcome.done = "".join(part.text or "" for each in ask() for part in each.parts or ())
    return outcome


def ask_ollama(here: Served, model: str, stream: bool) -> Outcome:
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages: list[Any] = [{"role": "user", "content": "how is it?"}]
    client = ollama.Client(host=here.url)
    with closing(client._client):

        def ask() -> Any:
            request: Any = {"model": model, "messages": messages, "tools": [tool], "think": True}
            if not stream:
                return client.chat(**request).message
            rows = list(client.chat(**request, stream=True))
            return ollama.Message(
                role="assistant",
                content="".join(row.message.content or "" for row in rows),
                thinking="".join(row.message.thinking or "" for row in rows),
                tool_calls=[call for row in rows for call in row.message.tool_calls or ()],
            )

        first = ask()
        messages.append(first)
        outcome = Outcome(first.thinking, first.content)
        for call, result in zip(first.tool_calls, RESULTS, strict=True):
            outcome.calls.append((call.function.name, dict(call.function.arguments)))
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})
        outcome.done = ask().content
    return outcome


CLIENTS: dict[str, Callable[[Served, str, bool], Outcome]] = {
    "openai": ask_openai,
    "openai-responses": ask_responses,
    "claude": ask_claude,
    "gemini": ask_gemini,
    "ollama": ask_ollama,
}
SHOWS_PICTURES = ("openai-responses", "claude")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_sdk_completes_a_tool_loop_with_thinking(
    here: Served, client: str, wire: str, stream: bool
) -> None:
    outcome = CLIENTS[client](here, f"v-{wire}/{MODELS[wire]}", stream)

    assert (outcome.thought, outcome.words, outcome.done) == (THOUGHT, WORDS, DONE)
    assert outcome.calls == CALLS
    assert len(set(outcome.ids)) in (0, 2) or client == wire == "gemini"

    body = here.vendors[wire].received[-1].json()
    turn = HEAR[wire](body)
    assert [(name, arguments) for _, name, arguments in turn.calls] == CALLS
    assert [result for _, result in turn.results] == RESULTS
    assert [each for each, _ in turn.results] == [each for each, *_ in turn.calls]
    assert client not in SHOWS_PICTURES or PNG in json.dumps(body)
