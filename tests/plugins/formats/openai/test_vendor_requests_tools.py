"""Tools and the choice among them, written for a vendor."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from gateway_core import (
    Conversation,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]

Aim = Callable[..., Target]

HI = Turn("user", (Text(text="hi"),))


def talk(*turns: Turn, **members: Any) -> Conversation:
    return Conversation(turns=turns or (HI,), **members)


def user(*parts: Any) -> Conversation:
    return talk(Turn("user", parts))


CUSTOM = Tool(
    name="calc",
    description="d",
    custom=True,
    raw=Raw(
        b'{"type":"custom","name":"calc","format":{"type":"grammar","syntax":"lark",'
        b'"definition":"x"}}'
    ),
    dialect="openai-responses",
)


def test_tools_and_the_choice_among_them(tell: Tell) -> None:
    tool = Tool(name="f", description="d", schema=Raw(b'{"type": "object"}'), strict=True)

    body, lost = tell(
        talk(tools=(tool,), tool_choice=ToolChoice("only", ("f",)), parallel_tools=False)
    )

    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object"},
                "strict": True,
            },
        }
    ]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert body["parallel_tool_calls"] is False
    assert lost == []


def test_nothing_is_said_of_tools_when_there_are_none(tell: Tell) -> None:
    body, _ = tell(talk(tool_choice=ToolChoice("auto"), parallel_tools=True))

    assert body.keys() == {"model", "messages"}


def test_a_tool_without_a_schema_takes_nothing(tell: Tell) -> None:
    body, _ = tell(talk(tools=(Tool(name="f"),)))

    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_several_allowed_tools_are_all_that_is_offered(tell: Tell, aim: Aim) -> None:
    conversation = talk(
        tools=tuple(Tool(name=n) for n in "fgh"), tool_choice=ToolChoice("only", ("f", "g"))
    )

    plain, _ = tell(conversation)
    rich, _ = tell(conversation, aim(allowed_tools=True))

    assert [tool["function"]["name"] for tool in plain["tools"]] == ["f", "g"]
    assert plain["tool_choice"] == "required"
    assert len(rich["tools"]) == 3
    assert rich["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "required",
            "tools": [{"type": "function", "function": {"name": n}} for n in "fg"],
        },
    }


def test_a_hosted_tool_of_another_dialect_is_lost_unless_the_vendor_has_it(
    tell: Tell, aim: Aim
) -> None:
    search = Tool(name="web_search", hosted="web_search", raw=Raw(b"{}"), dialect="claude")
    code = Tool(name="code", hosted="code_execution", raw=Raw(b"{}"), dialect="claude")

    body, lost = tell(talk(tools=(search, code)))

    assert "tools" not in body
    assert lost == ["tool:web_search", "tool:code_execution"]
    assert (
        tell(talk(tools=(search,)), aim(web_search="web_search_options"))[0]["web_search_options"]
        == {}
    )
    assert tell(talk(tools=(search,)), aim(web_search="plugins"))[0]["plugins"] == [{"id": "web"}]
    assert tell(talk(tools=(search,)), aim(web_search="openrouter:web_search"))[0]["tools"] == [
        {"type": "openrouter:web_search"}
    ]


def test_a_tool_of_this_dialect_keeps_its_own_words(tell: Tell) -> None:
    raw = Raw(b'{"type":"magic","x":1}')
    magic = Tool(name="magic", hosted="other", raw=raw, dialect="openai")
    search = Tool(
        name="web_search_options", hosted="web_search", raw=Raw(b'{"a":1}'), dialect="openai"
    )

    body, lost = tell(talk(tools=(magic, search), dialect="openai"))

    assert body["tools"] == [{"type": "magic", "x": 1}]
    assert body["web_search_options"] == {"a": 1}
    assert lost == []


def test_a_custom_tool_is_a_function_with_one_text_where_it_must_be(tell: Tell) -> None:
    call = ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)

    body, lost = tell(talk(HI, Turn("assistant", (call,)), tools=(CUSTOM,)))

    assert body["tools"][0]["function"]["parameters"]["required"] == ["input"]
    assert body["messages"][1]["tool_calls"][0]["function"] == {
        "name": "calc",
        "arguments": '{"input":"4 + 4"}',
    }
    assert lost == []


def test_a_custom_tool_keeps_its_grammar_where_the_vendor_takes_it(tell: Tell, aim: Aim) -> None:
    call = ToolCall(id="a", name="calc", arguments="4 + 4", custom=True)
    conversation = talk(
        HI,
        Turn("assistant", (call,)),
        tools=(CUSTOM,),
        tool_choice=ToolChoice("only", ("calc",)),
    )

    body, _ = tell(conversation, aim(custom_tools=True))

    assert body["tools"] == [
        {
            "type": "custom",
            "custom": {
                "name": "calc",
                "description": "d",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "lark", "definition": "x"},
                },
            },
        }
    ]
    assert body["messages"][1]["tool_calls"][0]["custom"] == {"name": "calc", "input": "4 + 4"}
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "calc"}}


def test_older_functions_are_sent_as_tools_with_room_for_one_call(tell: Tell) -> None:
    body, _ = tell(talk(tools=(Tool(name="f", dialect="openai-functions"),), dialect="openai"))

    assert body["tools"][0]["type"] == "function"
    assert body["parallel_tool_calls"] is False
