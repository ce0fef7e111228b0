"""What a client may set, as the hub has it, and what is refused."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_openai_responses import read_intake
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Conversation,
    Intake,
    Output,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolChoice,
)

Json = dict[str, Any]
Ask = Callable[..., Conversation]


def user(content: Any, **more: Any) -> Json:
    return {"role": "user", "content": content, **more}


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def parts(conversation: Conversation) -> list[Any]:
    return [part for turn in conversation.turns for part in turn.parts]


def test_settings_are_read(ask: Ask) -> None:
    conversation = ask(
        max_output_tokens=100,
        temperature=0.5,
        top_p=1,
        top_logprobs=3,
        include=["message.output_text.logprobs", "web_search_call.action.sources"],
        parallel_tool_calls=False,
        prompt_cache_key="k",
        service_tier="flex",
        user="u",
        store=False,
        metadata={"a": "b"},
        truncation=None,
        _compact=True,
        stream=True,
        x_novelty=[1.50],
    )

    assert conversation.sampling == Sampling(
        max_tokens=100, temperature=0.5, top_p=1.0, top_logprobs=3, logprobs=True
    )
    assert conversation.parallel_tools is False
    assert (conversation.cache_key, conversation.service_tier) == ("k", "flex")
    assert conversation.user == "u"
    assert {name: bytes(value) for name, value in conversation.extra.items()} == {
        "include": b'["web_search_call.action.sources"]',
        "store": b"false",
        "metadata": b'{"a":"b"}',
        "x_novelty": b"[1.5]",
    }


def test_the_newer_name_of_the_user_wins_and_the_older_is_kept(ask: Ask) -> None:
    conversation = ask(user="old", safety_identifier="new")

    assert conversation.user == "new"
    assert conversation.extra == {"user": raw("old")}


@pytest.mark.parametrize(
    ("written", "expected", "extra"),
    [
        ({"effort": "high"}, Thinking(enabled=True, effort="high"), {}),
        ({"effort": "none"}, Thinking(enabled=False, effort="none"), {}),
        ({"summary": "auto"}, Thinking(summary="auto", show=True), {}),
        ({"generate_summary": "concise"}, Thinking(summary="concise", show=True), {}),
        ({"context": "all_turns"}, Thinking(), {"reasoning.context": raw("all_turns")}),
    ],
)
def test_thinking_is_read(ask: Ask, written: Json, expected: Thinking, extra: Any) -> None:
    conversation = ask(reasoning=written)

    assert (conversation.thinking, conversation.extra) == (expected, extra)


def test_a_client_that_keeps_encrypted_thinking_is_remembered(ask: Ask) -> None:
    assert ask(include=["reasoning.encrypted_content"]).thinking == Thinking()


def test_the_form_of_the_answer_is_read(ask: Ask) -> None:
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}

    conversation = ask(text={"format": form, "verbosity": "low"})

    assert conversation.output == Output(schema=raw({"type": "object"}), name="n", strict=True)
    assert conversation.extra == {"text.verbosity": raw("low")}
    assert ask(text={"format": {"type": "json_object"}}).output == Output()
    assert ask(text={"format": {"type": "text"}}).output is None
    assert ask(text={"format": {"type": "grammar", "rule": 1}}).extra == {
        "text.format": raw({"type": "grammar", "rule": 1})
    }


def test_tools_are_read(ask: Ask) -> None:
    custom = {"type": "custom", "name": "c", "format": {"type": "text"}}
    search = {"type": "web_search_preview_2025_03_11", "search_context_size": "low"}
    tools = [
        {
            "type": "function",
            "name": "f",
            "description": "d",
            "parameters": {"type": "object"},
            "strict": None,
            "defer_loading": True,
        },
        custom,
        search,
        {"type": "novelty"},
    ]

    function, free, web, other = ask(tools=tools).tools

    assert function == Tool(
        name="f",
        description="d",
        schema=raw({"type": "object"}),
        extra={"defer_loading": Raw(b"true")},
    )
    assert (free.name, free.custom, json.loads(bytes(free.raw or b""))) == ("c", True, custom)
    assert (web.hosted, json.loads(bytes(web.raw or b""))) == ("web_search", search)
    assert (other.name, other.hosted) == ("novelty", "other")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "f"}, ToolChoice("only", ("f",))),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("only", ("f",))),
        ({"type": "custom", "name": "c"}, ToolChoice("only", ("c",))),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}],
            },
            ToolChoice("only", ("f", "c")),
        ),
    ],
)
def test_a_choice_of_tools_is_read(ask: Ask, written: Any, expected: ToolChoice) -> None:
    conversation = ask(tool_choice=written)

    assert (conversation.tool_choice, conversation.extra) == (expected, {})


@pytest.mark.parametrize(
    "written",
    [
        {"type": "web_search_preview"},
        {"type": "mcp", "server_label": "s", "name": "n"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "file_search"}]},
    ],
)
def test_a_choice_only_this_dialect_has_is_kept_as_it_is(ask: Ask, written: Json) -> None:
    conversation = ask(tool_choice=written)

    assert conversation.tool_choice is None
    assert json.loads(bytes(conversation.extra["tool_choice"])) == written


@pytest.mark.parametrize("name", ["previous_response_id", "conversation", "prompt"])
def test_input_that_the_vendor_keeps_will_do(ask: Ask, name: str) -> None:
    conversation = ask({"model": "m", name: {"id": "x_1"}})

    assert conversation.turns == ()
    assert set(conversation.extra) == {name}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[]", "must be a JSON object"),
        (b"{", "must be a JSON object"),
        ({"model": "m"}, "Missing required parameter: 'input'."),
        ({"input": 7}, "'input': expected a string or an array"),
        ({"input": []}, "'input' must not be empty"),
        ({"input": ["x"]}, "'input[0]': expected an object"),
        ({"input": [{"role": "king", "content": "x"}]}, "'input[0].role': 'king'"),
        ({"input": [{"role": "user"}]}, "'input[0].content'"),
        ({"input": [{"role": "user", "content": 7}]}, "'input[0].content': expected a string"),
        ({"input": [{"role": 7, "content": "x"}]}, "'input[0].role': expected a string"),
        ({"input": [{"role": "user", "content": [{"type": "x"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": [{"text": "x"}]}]}, "input[0].content[0].type"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
            "Missing required parameter: 'input[0].content[0].text'",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input[0].content[0].image_url",
        ),
        (
            {
                "input": [
                    {"role": "user", "content": [{"type": "input_image", "image_url": {"url": 1}}]}
                ]
            },
            "input[0].content[0].image_url': expected a string",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file"}]}]},
            "needs one of file_data, file_url and file_id",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "input[0].content[0].input_audio",
        ),
        ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
        (
            {
                "input": [
                    {
                        "type": "function_call_output",
                        "call_id": "c",
                        "output": [{"type": "refusal", "refusal": "x"}],
                    }
                ]
            },
            "may hold only texts, images and files",
        ),
        ({"input": [{"type": "reasoning", "summary": "x"}]}, "input[0].summary"),
        ({"input": "x", "instructions": 7}, "'instructions': expected a string"),
        ({"input": "x", "tools": {}}, "'tools': expected an array"),
        ({"input": "x", "tools": [{}]}, "'tools[0].type'"),
        ({"input": "x", "tools": [{"type": "function"}]}, "'tools[0].name'"),
        (
            {"input": "x", "tools": [{"type": "function", "name": "f", "parameters": []}]},
            "'tools[0].parameters': expected an object",
        ),
        ({"input": "x", "tools": [{"type": "namespace", "name": "n"}]}, "'tools[0].tools'"),
        ({"input": "x", "tool_choice": "sometimes"}, "'tool_choice': 'sometimes'"),
        ({"input": "x", "tool_choice": {"type": "function"}}, "'tool_choice.name'"),
        ({"input": "x", "tool_choice": 7}, "'tool_choice': expected an object"),
        ({"input": "x", "max_output_tokens": 0}, "max_output_tokens"),
        ({"input": "x", "max_output_tokens": "9"}, "'max_output_tokens': expected an integer"),
        ({"input": "x", "temperature": "hot"}, "'temperature': expected a number"),
        ({"input": "x", "parallel_tool_calls": 1}, "'parallel_tool_calls': expected a boolean"),
        ({"input": "x", "include": "all"}, "'include': expected an array of strings"),
        ({"input": "x", "reasoning": "much"}, "'reasoning': expected an object"),
        ({"input": "x", "text": {"format": {}}}, "'text.format.type'"),
        ({"input": "x", "text": {"format": {"type": "json_schema"}}}, "'text.format.schema'"),
    ],
)
def test_nonsense_is_refused_by_name(ask: Ask, body: Any, words: str) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(body)

    assert words in refused.value.message


def test_the_body_is_not_decoded_twice(client: Any) -> None:
    members = {"model": raw("m"), "input": raw("hello")}
    call = Call(kind="llm", format="x", model="m", stream=True, body=b"not read", members=members)  # type: ignore[arg-type]

    conversation = client.read_request(call)

    assert conversation.stream is True
    assert parts(conversation) == [Text(text="hello")]
    assert set(members) == {"model", "input"}


@pytest.mark.parametrize(
    ("body", "accept", "stream"),
    [
        ({}, "", False),
        ({"stream": True}, "application/json", True),
        ({}, "text/event-stream", True),
        ({}, "application/json, text/event-stream", True),
        ({"stream": False}, "text/event-stream", True),
        ({"stream": False}, "application/json, text/event-stream", False),
        ({"stream": None}, "*/*", False),
    ],
)
def test_a_stream_is_asked_for_by_body_or_header(body: Json, accept: str, stream: bool) -> None:
    members = {name: raw(value) for name, value in {"model": "m", **body}.items()}

    assert read_intake({}, {"accept": accept}, members) == Intake("m", stream)


def test_a_stream_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(BadRequest, match="stream"):
        read_intake({}, {}, {"stream": raw("yes")})
