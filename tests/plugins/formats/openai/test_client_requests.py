"""What a client may send, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Text,
    Turn,
)

Ask = Callable[..., Conversation]

HI = {"role": "user", "content": "hi"}


def assistant(ask: Ask, **members: Any) -> tuple[Any, ...]:
    return ask([HI, {"role": "assistant", **members}]).turns[1].parts


USER = {"role": "user"}


def test_system_and_developer_text_before_the_first_turn_are_instructions(ask: Ask) -> None:
    conversation = ask(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            HI,
        ]
    )

    assert conversation.instructions == (Text(text="Be brief."), Text(text="Be kind."))
    assert conversation.turns == (Turn("user", (Text(text="hi"),)),)


def test_an_instruction_in_mid_conversation_keeps_its_place(ask: Ask) -> None:
    conversation = ask([HI, {"role": "system", "content": "Now in French."}])

    assert conversation.instructions == ()
    assert conversation.turns[1] == Turn("system", (Text(text="Now in French."),))


def test_a_named_instruction_keeps_its_name_with_its_text(ask: Ask) -> None:
    conversation = ask([{"role": "system", "name": "boss", "content": "Be brief."}, HI])

    named = {"messages.name": Raw(b'"boss"')}
    assert conversation.instructions == (Text(text="Be brief.", extra=named),)


def test_input_counts_as_messages_when_messages_are_missing(ask: Ask) -> None:
    written = [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]

    assert ask({"input": written}).turns == (Turn("user", (Text(text="hi"),)),)
    assert ask({"input": "hi"}).turns == (Turn("user", (Text(text="hi"),)),)


def test_messages_win_over_input(ask: Ask) -> None:
    conversation = ask({"messages": [HI], "input": "other"})

    assert conversation.turns == (Turn("user", (Text(text="hi"),)),)
    assert conversation.extra == {"input": Raw(b'"other"')}


def test_members_that_begin_with_an_underscore_are_dropped(ask: Ask) -> None:
    assert ask(_compact=True, _x=1).extra == {}


def test_unknown_members_are_kept_at_the_level_they_stand(ask: Ask) -> None:
    conversation = ask(
        [
            {"role": "user", "content": [{"type": "text", "text": "a", "p": 1}], "t": 2},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f"}, "c": 3}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "x", "r": 4},
        ],
        tools=[{"type": "function", "function": {"name": "f", "deep": 5}, "o": 6}],
        metadata={"a": "b"},
    )

    user, written, result = (turn.parts[0] for turn in conversation.turns)
    assert conversation.dialect == "openai"
    assert conversation.extra == {"metadata": Raw(b'{"a":"b"}')}
    assert conversation.turns[0].extra == {"t": Raw(b"2")}
    assert (user.extra, written.extra, result.extra) == (
        {"p": Raw(b"1")},
        {"c": Raw(b"3")},
        {"r": Raw(b"4")},
    )
    assert conversation.tools[0].extra == {"o": Raw(b"6"), "function": Raw(b'{"deep":5}')}


def test_null_members_count_as_absent(ask: Ask) -> None:
    conversation = ask(
        [{"role": "user", "content": "hi", "name": None, "tool_calls": None}],
        temperature=None,
        stop=None,
        tools=None,
        tool_choice=None,
        response_format=None,
        safety_model=None,
    )

    assert conversation == ask(None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "The request body must be a JSON object"),
        (b'{"messages":', "The request body must be a JSON object"),
        ({}, "messages is missing"),
        ({"messages": []}, "messages must not be empty"),
        ({"messages": "hi"}, "messages must be an array"),
        ({"messages": ["hi"]}, "messages[0] must be an object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role is missing"),
        (
            {"messages": [{"role": "robot"}]},
            "messages[0].role must be one of system, developer, user, assistant, tool, "
            "function, not 'robot'",
        ),
        (
            {"messages": [{**USER, "content": 5}]},
            "messages[0].content must be a string or an array of parts",
        ),
        ({"messages": [{**USER, "content": [5]}]}, "messages[0].content[0] must be an object"),
        ({"messages": [{**USER, "content": [{}]}]}, "messages[0].content[0].type is missing"),
        (
            {"messages": [{**USER, "content": [{"type": "text"}]}]},
            "messages[0].content[0].text is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "image_url"}]}]},
            "messages[0].content[0].image_url.url is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "messages[0].content[0].input_audio.data is missing",
        ),
        (
            {"messages": [{**USER, "content": [{"type": "file", "file": {}}]}]},
            "messages[0].content[0].file must have file_data or file_id",
        ),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages[0].tool_call_id is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]},
            "messages[0].tool_calls[0].function is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
            "messages[0].tool_calls[0].function.name is missing",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"type": "custom"}]}]},
            "messages[0].tool_calls[0].custom.name is missing",
        ),
        ({"messages": [HI], "temperature": "hot"}, "temperature must be a number"),
        ({"messages": [HI], "max_tokens": 1.5}, "max_tokens must be an integer"),
        ({"messages": [HI], "n": True}, "n must be an integer"),
        ({"messages": [HI], "logprobs": 1}, "logprobs must be true or false"),
        ({"messages": [HI], "stop": 1}, "stop must be a string or an array of strings"),
        ({"messages": [HI], "stop": [1]}, "stop[0] must be a string"),
        ({"messages": [HI], "user": 1}, "user must be a string"),
        ({"messages": [HI], "tools": [{"type": "function"}]}, "tools[0].function is missing"),
        (
            {"messages": [HI], "tools": [{"type": "function", "function": {}}]},
            "tools[0].function.name is missing",
        ),
        ({"messages": [HI], "tools": [{"type": "custom"}]}, "tools[0].custom.name is missing"),
        (
            {"messages": [HI], "tool_choice": "maybe"},
            "tool_choice must be none, auto, required or an object",
        ),
        (
            {"messages": [HI], "response_format": {"type": "json_schema"}},
            "response_format.json_schema is missing",
        ),
        ({"messages": [HI], "stream_options": 1}, "stream_options must be an object"),
    ],
)
def test_a_malformed_request_is_refused_by_name(ask: Ask, body: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(body if isinstance(body, bytes) else dict(body))

    assert refused.value.message == message


def test_an_infinite_number_is_refused(ask: Ask) -> None:
    with pytest.raises(BadRequest, match="temperature"):
        ask(b'{"messages":[{"role":"user","content":"x"}],"temperature":1e999}')
