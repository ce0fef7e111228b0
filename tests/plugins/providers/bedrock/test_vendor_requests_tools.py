"""The tools and the form of the answer, as Converse takes them."""

from typing import Any

import pytest
from msgspec import Raw

from gateway_core import Conversation, Output, Text, Tool, ToolCall, ToolChoice, ToolResult, Turn

HELLO = Turn("user", (Text(text="Hello"),))
TOOL = Tool(name="f", schema=Raw(b'{"type":"object"}'))
CALL = ToolCall(id="c1", name="f", arguments='{"a":1}')
CALLED = (HELLO, Turn("assistant", (CALL,)), Turn("user", (ToolResult(call_id="c1"),)))
NOVA = "us.amazon.nova-lite-v1:0"
BARE = {"type": "object", "properties": {}}


def saying(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), **members)


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        (None, BARE),
        (Raw(b'{"type":"object","x":1}'), {"type": "object", "x": 1}),
        (Raw(b'{"properties":{}}'), BARE),
        (Raw(b"7"), BARE),
    ],
)
def test_a_tools_schema_is_that_of_an_object(tell: Any, schema: Any, written: Any) -> None:
    body, _ = tell(saying(tools=(Tool(name="f", description="", schema=schema),)))

    spec = {"name": "f", "inputSchema": {"json": written}}
    assert body["toolConfig"] == {"tools": [{"toolSpec": spec}]}


@pytest.mark.parametrize(
    ("choice", "written", "names"),
    [
        (None, None, ["f", "g", "h"]),
        (ToolChoice("auto"), None, ["f", "g", "h"]),
        (ToolChoice("required"), {"any": {}}, ["f", "g", "h"]),
        (ToolChoice("only", ("g",)), {"tool": {"name": "g"}}, ["f", "g", "h"]),
        (ToolChoice("only", ("g", "h")), {"any": {}}, ["g", "h"]),
    ],
)
def test_which_tools_may_be_called(tell: Any, choice: Any, written: Any, names: list[str]) -> None:
    tools = (TOOL, Tool(name="g"), Tool(name="h"))

    body, losses = tell(saying(tools=tools, tool_choice=choice))

    assert body["toolConfig"].get("toolChoice") == written
    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == names
    assert losses == []


def test_forbidding_every_tool_is_to_name_none(tell: Any) -> None:
    body, losses = tell(saying(tools=(TOOL,), tool_choice=ToolChoice("none")))

    assert "toolConfig" not in body
    assert losses == []


def test_tools_that_were_called_must_be_declared(tell: Any) -> None:
    forbidden, lost = tell(saying(*CALLED, tools=(TOOL,), tool_choice=ToolChoice("none")))
    gone, none_lost = tell(saying(*CALLED))

    assert forbidden["toolConfig"]["tools"][0]["toolSpec"]["name"] == "f"
    assert lost == ["tool_choice"]
    assert [tool["toolSpec"]["name"] for tool in gone["toolConfig"]["tools"]] == ["f"]
    assert none_lost == []


@pytest.mark.parametrize("mode", ["required", "only"])
def test_a_call_cannot_be_forced_of_tools_that_are_gone(tell: Any, mode: Any) -> None:
    body, losses = tell(saying(*CALLED, tool_choice=ToolChoice(mode, ("f",))))

    assert "toolChoice" not in body["toolConfig"]
    assert losses == ["tool_choice"]


def test_the_newest_models_cannot_be_forced(tell: Any) -> None:
    choice = ToolChoice("required")

    _, losses = tell(saying(tools=(TOOL,), tool_choice=choice), "anthropic.claude-opus-5-5")

    assert losses == ["tool_choice"]


SCHEMA = (
    b'{"type":"object","properties":{"n":{"type":"integer","minimum":1},'
    b'"minimum":{"enum":["maximum"]},"o":{"anyOf":[{"properties":{}},true]}}}'
)


def test_an_answers_schema_is_its_text(tell: Any) -> None:
    strict = Raw(b'{"type":"object", "properties":{}, "additionalProperties":false}')

    body, losses = tell(saying(output=Output(schema=strict, name="N", description="D")))

    assert body["outputConfig"] == {
        "textFormat": {
            "type": "json_schema",
            "structure": {
                "jsonSchema": {"schema": bytes(strict).decode(), "name": "N", "description": "D"}
            },
        }
    }
    assert losses == []


def test_a_schema_is_closed_and_freed_of_what_the_service_refuses(tell: Any) -> None:
    body, losses = tell(saying(output=Output(schema=Raw(SCHEMA))))

    definition = body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert definition["schema"] == (
        '{"type":"object","properties":{"n":{"type":"integer"},"minimum":{"enum":["maximum"]},'
        '"o":{"anyOf":[{"properties":{},"additionalProperties":false},true]}},'
        '"additionalProperties":false}'
    )
    assert losses == ["output_schema"]


def test_a_model_without_schemas_is_told_in_words(tell: Any) -> None:
    body, losses = tell(saying(output=Output(schema=Raw(SCHEMA))), NOVA)

    assert body["system"][0]["text"].endswith(SCHEMA.decode())
    assert losses == ["output_schema"]


def test_any_json_is_asked_for_in_words(tell: Any) -> None:
    body, losses = tell(saying(output=Output()))

    assert "JSON" in body["system"][0]["text"]
    assert losses == ["output_json"]


@pytest.mark.parametrize(
    ("model", "strict", "lost"),
    [("anthropic.claude-sonnet-4-5", True, []), (NOVA, None, ["strict"])],
)
def test_only_some_models_keep_arguments_to_a_schema(
    tell: Any, model: str, strict: Any, lost: list[str]
) -> None:
    body, losses = tell(saying(tools=(Tool(name="f", strict=True),)), model)

    assert body["toolConfig"]["tools"][0]["toolSpec"].get("strict") == strict
    assert losses == lost
