"""Tools, and the choice among them, in requests to this vendor."""

from typing import Any

import pytest
from claude_conversations import SCHEMA, At, Tell, asking
from msgspec import Raw

from gateway_core import Tool, ToolChoice

LOOK = Tool(name="look", description="d", schema=SCHEMA)


def test_tools(tell: Tell) -> None:
    bare = Tool(name="bare")

    written, losses = tell(asking(tools=(LOOK, bare)))

    assert written["tools"] == [
        {
            "name": "look",
            "description": "d",
            "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        {"name": "bare", "input_schema": {"type": "object"}},
    ]
    assert losses == []


def test_no_tools_are_not_said(tell: Tell) -> None:
    written, losses = tell(asking(tool_choice=ToolChoice("auto"), parallel_tools=False))

    assert "tools" not in written
    assert "tool_choice" not in written
    assert losses == []


@pytest.mark.parametrize(
    ("schema", "sent", "losses"),
    [
        (b"{}", {"type": "object"}, []),
        (b'{"properties":{}}', {"type": "object", "properties": {}}, []),
        (
            b'{"anyOf":[{"type":"object"}],"title":"t"}',
            {"type": "object", "title": "t"},
            ["tool_schema"],
        ),
        (b'"x"', {"type": "object"}, ["tool_schema"]),
    ],
)
def test_a_tools_schema_is_an_object_at_its_top(
    tell: Tell, schema: bytes, sent: Any, losses: list[str]
) -> None:
    written, lost = tell(asking(tools=(Tool(name="t", schema=Raw(schema)),)))

    assert (written["tools"][0]["input_schema"], lost) == (sent, losses)


def test_a_strict_tool_has_a_schema_the_vendor_can_hold_to(tell: Tell, at: At) -> None:
    strict = Tool(
        name="t",
        strict=True,
        schema=Raw(b'{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}'),
    )

    written, losses = tell(asking(tools=(strict,)))

    (tool,) = written["tools"]
    assert tool["strict"] is True
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "{minimum: 1}"}},
        "additionalProperties": False,
    }
    assert losses == ["strict"]

    written, losses = tell(asking(tools=(strict,)), at("claude-3-7-sonnet"))

    assert "strict" not in written["tools"][0]
    assert losses == ["strict"]


def test_a_tool_for_free_text_takes_it_as_input(tell: Tell) -> None:
    written, losses = tell(asking(tools=(Tool(name="sh", custom=True),)))

    assert written["tools"][0]["input_schema"]["required"] == ["input"]
    assert losses == ["tool:custom"]


@pytest.mark.parametrize(
    ("hosted", "declared"),
    [
        ("web_search", "web_search_20250305"),
        ("web_fetch", "web_fetch_20250910"),
        ("code_execution", "code_execution_20250825"),
    ],
)
def test_a_server_tool_of_another_dialect_becomes_the_vendors_own(
    tell: Tell, at: At, hosted: str, declared: str
) -> None:
    tool = Tool(
        name=hosted,
        hosted=hosted,
        raw=Raw(b'{"type":"x","user_location":{"city":"Ulm"}}'),
        dialect="openai",
    )

    written, losses = tell(asking(tools=(tool,)))

    assert written["tools"] == [{"type": declared, "name": hosted}]
    assert losses == [f"tool:{hosted}.user_location"]

    written, losses = tell(asking(tools=(tool,)), at("kimi-k2"))

    assert "tools" not in written
    assert losses == [f"tool:{hosted}"]


def test_a_server_tool_that_has_no_like_is_recorded(tell: Tell) -> None:
    tools = (LOOK, Tool(name="f", hosted="file_search", raw=Raw(b"{}"), dialect="openai"))

    written, losses = tell(asking(tools=tools))

    assert [tool["name"] for tool in written["tools"]] == ["look"]
    assert losses == ["tool:file_search"]


@pytest.mark.parametrize(
    ("choice", "parallel", "sent"),
    [
        (None, None, None),
        (None, True, None),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("auto"), None, {"type": "auto"}),
        (ToolChoice("none"), False, {"type": "none"}),
        (ToolChoice("required"), None, {"type": "any"}),
        (ToolChoice("required"), False, {"type": "any", "disable_parallel_tool_use": True}),
        (ToolChoice("only", ("look",)), None, {"type": "tool", "name": "look"}),
    ],
)
def test_tool_choice(
    tell: Tell, choice: ToolChoice | None, parallel: bool | None, sent: Any
) -> None:
    written, losses = tell(asking(tools=(LOOK,), tool_choice=choice, parallel_tools=parallel))

    assert written.get("tool_choice") == sent
    assert losses == []


def test_a_choice_among_several_tools_leaves_the_others_out(tell: Tell) -> None:
    tools = tuple(Tool(name=name, schema=SCHEMA) for name in "abc")

    written, losses = tell(asking(tools=tools, tool_choice=ToolChoice("only", ("a", "c"))))

    assert [tool["name"] for tool in written["tools"]] == ["a", "c"]
    assert written["tool_choice"] == {"type": "any"}
    assert losses == []


def test_a_forced_call_without_tools_is_recorded(tell: Tell) -> None:
    assert tell(asking(tool_choice=ToolChoice("required")))[1] == ["tool_choice"]
