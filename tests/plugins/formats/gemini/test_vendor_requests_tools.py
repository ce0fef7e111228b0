"""Tools and the choice among them, as the vendor takes them."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Losses,
    Output,
    Text,
    Tool,
    ToolChoice,
    Turn,
)

Write = Callable[..., dict[str, Any]]


NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"


HELLO = Turn("user", (Text(text="Hello"),))


SCHEMA = Raw(b'{"type":"object","properties":{"q":{"type":"string"}}}')


FUNCTION = Tool(name="f", schema=SCHEMA)


def chat(*turns: Turn, dialect: str = "openai", **more: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), dialect=dialect, **more)


def reported(
    write: Write, conversation: Conversation, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    losses = Losses()
    return write(conversation, losses, **more), list(losses.names)


def assistant(*parts: Any) -> Turn:
    return Turn("assistant", parts)


def user(*parts: Any) -> Turn:
    return Turn("user", parts)


def test_functions_are_declared_with_schemas_the_vendor_takes(write: Write) -> None:
    schema = Raw(
        b'{"$schema":"x","type":"object","additionalProperties":false,'
        b'"properties":{"n":{"type":["integer","null"]}},"required":["n"]}'
    )
    tool = Tool(name="f", description="d", schema=schema, strict=True, cache="5m")

    body, lost = reported(write, chat(tools=(tool, Tool(name="g"))))

    assert body["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "d",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"n": {"type": "INTEGER", "nullable": True}},
                        "required": ["n"],
                    },
                },
                {"name": "g"},
            ]
        }
    ]
    assert lost == ["cache_control", "strict", "schema:$schema", "schema:additionalProperties"]


@pytest.mark.parametrize("schema", [b'{"title":"\xff"}', b'{"maximum":1e999}'])
def test_a_schema_that_cannot_be_read_is_refused(write: Write, schema: bytes) -> None:
    tool, form = Tool(name="f", schema=Raw(schema)), Output(schema=Raw(schema))

    for conversation in (chat(tools=(tool,)), chat(output=form)):
        with pytest.raises(BadRequest):
            reported(write, conversation)


def test_a_vendor_may_take_json_schema_as_it_is(write: Write) -> None:
    schema = Raw(b'{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}')
    received = chat(tools=(Tool(name="f", schema=schema),), output=Output(schema=schema))

    body, lost = reported(write, received, model=NEW, options={"json_schema": True})

    plain = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}
    [declared] = body["tools"][0]["functionDeclarations"]
    assert declared == {"name": "f", "parametersJsonSchema": plain}
    assert body["generationConfig"]["responseJsonSchema"] == plain
    assert lost == []


def test_a_client_of_this_dialect_that_chose_json_schema_keeps_it(write: Write) -> None:
    needy = Raw(b'{"type":"object","properties":{"a":{"const":1.5}},"additionalProperties":false}')
    received = chat(dialect="gemini", tools=(Tool(name="f", schema=needy), FUNCTION))

    body, lost = reported(write, received)

    first, second = body["tools"][0]["functionDeclarations"]
    assert "parametersJsonSchema" in first
    assert "parameters" in second
    assert lost == []


def test_free_text_tools_take_their_text_as_a_member(write: Write) -> None:
    tool = Tool(name="patch", custom=True, raw=Raw(b'{"type":"custom"}'), dialect="openai")

    body, lost = reported(write, chat(tools=(tool,)))

    [declared] = body["tools"][0]["functionDeclarations"]
    assert declared["parameters"]["properties"] == {"input": {"type": "STRING"}}
    assert lost == ["tool:custom"]


def hosted(name: str, raw: bytes = b"{}") -> Tool:
    return Tool(name=name, hosted=name, raw=Raw(raw), dialect="claude")


def test_server_tools_have_counterparts_or_are_lost(write: Write) -> None:
    settings = b'{"type":"web_search_20250305","name":"web_search","max_uses":3}'
    tools = (
        hosted("web_search", settings),
        hosted("web_fetch"),
        hosted("code_execution"),
        hosted("computer"),
        hosted("web_search"),
    )

    body, lost = reported(write, chat(tools=tools))

    assert body["tools"] == [{"googleSearch": {}}, {"urlContext": {}}, {"codeExecution": {}}]
    assert lost == ["tool:web_search.max_uses", "tool:computer"]


def test_functions_and_server_tools_go_together_since_the_third_generation(write: Write) -> None:
    received = chat(tools=(FUNCTION, hosted("web_search")))

    old, lost = reported(write, received, model=OLD)
    new, kept = reported(write, received, model=NEW)
    bare, _ = reported(write, received, model=NEW, options={"server_tool_invocations": False})

    assert [list(tool) for tool in old["tools"]] == [["functionDeclarations"]]
    assert lost == ["tool:web_search"]
    assert [list(tool) for tool in new["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert new["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert "toolConfig" not in bare
    assert kept == []


@pytest.mark.parametrize(
    ("choice", "calling", "lost"),
    [
        (ToolChoice("auto"), {"mode": "AUTO"}, []),
        (ToolChoice("none"), {"mode": "NONE"}, []),
        (ToolChoice("required"), {"mode": "ANY"}, []),
        (ToolChoice("only", ("f",)), {"mode": "ANY", "allowedFunctionNames": ["f"]}, []),
        (
            ToolChoice("only", ("f", "web_search")),
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
            ["tool_choice"],
        ),
        (ToolChoice("only", ("web_search",)), None, ["tool_choice"]),
        (None, None, []),
    ],
)
def test_the_choice_among_tools(
    write: Write, choice: ToolChoice | None, calling: Any, lost: list[str]
) -> None:
    body, missed = reported(write, chat(tools=(FUNCTION,), tool_choice=choice))

    assert body.get("toolConfig", {}).get("functionCallingConfig") == calling
    assert missed == lost


@pytest.mark.parametrize(
    ("choice", "lost"), [(ToolChoice("required"), ["tool_choice"]), (ToolChoice("auto"), [])]
)
def test_no_choice_is_sent_without_functions(
    write: Write, choice: ToolChoice, lost: list[str]
) -> None:
    body, missed = reported(write, chat(tool_choice=choice))

    assert list(body) == ["contents"]
    assert missed == lost
