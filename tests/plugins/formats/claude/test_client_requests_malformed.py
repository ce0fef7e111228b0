"""Requests that are refused, with the member that is wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from claude_blocks import Ask, answered, text, user

from gateway_core import BadRequest, Call, ClientSide, Kind, ToolResult

MockResponse = Callable[..., Call]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("no messages", {"messages": None}, "messages: Field required"),
    ("no turn", {"messages": []}, "messages: at least one"),
    ("messages of text", {"messages": "hi"}, "messages: must be a list"),
    ("a turn of text", {"messages": ["hi"]}, "messages.0: must be an object"),
    ("no role", {"messages": [{"content": "x"}]}, "messages.0.role: Field required"),
    ("a new role", {"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: must be"),
    ("no content", {"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    (
        "content of numbers",
        {"messages": [{"role": "user", "content": 3}]},
        "messages.0.content: must be a string or a list",
    ),
    (
        "empty content",
        {"messages": [{"role": "user", "content": ""}]},
        "messages.0: all messages must have non-empty content",
    ),
    ("a block of text", {"messages": user("x")}, "messages.0.content.0: must be an object"),
    ("a block without type", {"messages": user({})}, "messages.0.content.0.type: Field required"),
    (
        "text of numbers",
        {"messages": user(text("a"), {"type": "text", "text": 1})},
        "messages.0.content.1.text: must be a string",
    ),
    (
        "a call by the user",
        {"messages": user({"type": "tool_use", "id": "a", "name": "b", "input": {}})},
        "messages.0.content.0: tool_use blocks can only be in assistant messages",
    ),
    (
        "a result by the assistant",
        {"messages": answered({"type": "tool_result", "tool_use_id": "a"})},
        "messages.1.content.0: tool_result blocks can only be in user messages",
    ),
    (
        "input that is a list",
        {"messages": answered({"type": "tool_use", "id": "a", "name": "b", "input": []})},
        "messages.1.content.0.input: must be an object",
    ),
    (
        "an image without source",
        {"messages": user({"type": "image"})},
        "messages.0.content.0.source: Field required",
    ),
    (
        "a source without data",
        {"messages": user({"type": "image", "source": {"type": "base64", "media_type": "i"}})},
        "messages.0.content.0.source.data: Field required",
    ),
    ("system of numbers", {"system": 3}, "system: must be a string or a list"),
    ("a system image", {"system": [{"type": "image"}]}, "system.0.type: must be text"),
    ("max_tokens of text", {"max_tokens": "many"}, "max_tokens: must be an integer"),
    ("negative max_tokens", {"max_tokens": -1}, "max_tokens: must be greater"),
    ("temperature of text", {"temperature": "hot"}, "temperature: must be a number"),
    ("stream of text", {"stream": "yes"}, "stream: must be true or false"),
    ("stop of text", {"stop_sequences": "x"}, "stop_sequences: must be a list of strings"),
    ("tools of text", {"tools": "x"}, "tools: must be a list"),
    ("a tool without name", {"tools": [{"input_schema": {}}]}, "tools.0.name: Field required"),
    ("a tool without schema", {"tools": [{"name": "a"}]}, "tools.0.input_schema: Field required"),
    (
        "a schema of text",
        {"tools": [{"name": "a", "input_schema": "x"}]},
        "tools.0.input_schema: must be an object",
    ),
    ("an unknown choice", {"tool_choice": {"type": "maybe"}}, "tool_choice.type: must be auto"),
    ("a choice without name", {"tool_choice": {"type": "tool"}}, "tool_choice.name: Field"),
    (
        "thinking without budget",
        {"thinking": {"type": "enabled"}},
        "thinking.budget_tokens: Field required",
    ),
    (
        "a form that is none",
        {"output_config": {"format": {"type": "xml"}}},
        "output_config.format.type: must be json_schema",
    ),
    ("metadata of text", {"metadata": "x"}, "metadata: must be an object"),
]


@pytest.mark.parametrize(
    ("members", "complaint"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_a_malformed_request_is_refused_by_the_members_name(
    ask: Ask, members: Any, complaint: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(**members)

    assert refused.value.message.startswith(complaint)


def nested(depth: int) -> bytes:
    block = b'{"type":"tool_result","tool_use_id":"t","content":[%b]}'
    inner = b'{"type":"text","text":"x"}'
    for _ in range(depth):
        inner = block % inner
    return b'{"messages":[{"role":"user","content":[%b]}]}' % inner


@pytest.mark.parametrize("depth", [1, 2, 100, 400])
def test_blocks_within_blocks_surprise_nobody(
    client: ClientSide, written: MockResponse, depth: int
) -> None:
    (part,) = client.read_request(written(nested(depth))).turns[0].parts

    assert isinstance(part, ToolResult)
    assert bool(part.content) == (depth == 1)


def test_a_body_that_is_no_object_lacks_its_messages(client: ClientSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="", stream=False, body=b"[]")

    with pytest.raises(BadRequest, match="messages: Field required"):
        client.read_request(call)
