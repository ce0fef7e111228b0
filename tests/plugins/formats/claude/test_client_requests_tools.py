"""Tools, calls and results in a client's request, and what the hub makes of them."""

from typing import Any

import pytest
from claude_blocks import Ask, answered, loaded, text, user

from gateway_core import Media, Reasoning, Text, ToolCall, ToolChoice, ToolResult, seal_id


def test_a_call_and_its_result(ask: Ask) -> None:
    turns = ask(
        messages=[
            *answered({"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}),
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "is_error": True,
                        "content": [
                            text("seen"),
                            {"type": "image", "source": {"type": "url", "url": "https://a"}},
                        ],
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            },
        ]
    ).turns

    assert turns[1].parts == (ToolCall(id="t1", name="look", arguments='{"a":1}'),)
    assert turns[2].parts == (
        ToolResult(
            call_id="t1",
            content=(Text(text="seen"), Media(kind="image", url="https://a")),
            failed=True,
            cache="5m",
        ),
    )


def test_a_signature_comes_back_out_of_a_calls_id_and_its_results(ask: Ask) -> None:
    thought = Reasoning(text="hm", signature="r", origin="gemini")
    sealed = seal_id("t1", "gemini", "sig", (thought,))
    turns = ask(
        messages=[
            *answered({"type": "tool_use", "id": sealed, "name": "look", "input": {}}),
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": sealed}]},
        ]
    ).turns

    assert turns[1].parts == (
        thought,
        ToolCall(id="t1", name="look", arguments="{}", signature="sig", origin="gemini"),
    )
    assert turns[2].parts == (ToolResult(call_id="t1"),)


def test_content_of_a_result_that_has_no_neutral_form_is_kept_whole(ask: Ask) -> None:
    content = [text("a"), {"type": "tool_reference", "tool_name": "x"}]

    (part,) = (
        ask(messages=user({"type": "tool_result", "tool_use_id": "t", "content": content}))
        .turns[0]
        .parts
    )

    assert isinstance(part, ToolResult)
    assert part.content == (Text(text="a"),)
    assert loaded(dict(part.extra)) == {"content": content}


def test_a_tool_of_the_clients_own(ask: Ask) -> None:
    schema = {"type": "object", "properties": {}}
    (tool,) = ask(
        tools=[
            {
                "type": "custom",
                "name": "look",
                "description": "d",
                "input_schema": schema,
                "strict": True,
                "cache_control": {"type": "ephemeral"},
                "defer_loading": True,
            }
        ]
    ).tools

    assert (tool.name, tool.description, tool.strict, tool.cache) == ("look", "d", True, "5m")
    assert loaded({"schema": tool.schema, **tool.extra}) == {
        "schema": schema,
        "defer_loading": True,
    }


@pytest.mark.parametrize(
    ("kind", "hosted"),
    [
        ("web_search_20250305", "web_search"),
        ("web_fetch_20260318", "web_fetch"),
        ("code_execution_20250825", "code_execution"),
        ("computer_20250124", "computer"),
        ("mcp_toolset", "mcp"),
        ("bash_20250124", "other"),
        ("tool_of_next_year", "other"),
    ],
)
def test_a_tool_of_the_vendors_own(ask: Ask, kind: str, hosted: str) -> None:
    declared = {"type": kind, "name": "n", "max_uses": 3}

    (tool,) = ask(tools=[declared]).tools

    assert (tool.name, tool.hosted, tool.dialect) == ("n", hosted, "claude")
    assert loaded({"raw": tool.raw}) == {"raw": declared}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "look"}, ToolChoice("only", ("look",))),
    ],
)
def test_tool_choices(ask: Ask, choice: Any, expected: ToolChoice) -> None:
    assert ask(tool_choice=choice).tool_choice == expected
    assert ask(tool_choice=choice).parallel_tools is None
    one = ask(tool_choice={**choice, "disable_parallel_tool_use": True})
    assert one.parallel_tools is False
