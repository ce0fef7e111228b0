"""Tools in a namespace are plain functions to any other vendor, and the client never notices."""

import json
from collections.abc import Callable
from typing import Any

from gateway_format_openai_responses._namespaces import LONGEST, flat_name

from gateway_core import (
    Choice,
    ClientSide,
    Conversation,
    Losses,
    Reply,
    ToolCall,
    ToolChoice,
)

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[Json, list[str]]]

SEARCH = {"type": "function", "name": "search", "parameters": {"type": "object"}, "strict": False}
FREE = {"type": "custom", "name": "write"}
GROUP = {
    "type": "namespace",
    "name": "mcp__docs__",
    "description": "Docs.",
    "tools": [SEARCH, FREE],
}
OTHER = {"type": "namespace", "name": "web", "tools": [{"type": "function", "name": "search"}]}
PLAIN = {"type": "function", "name": "search"}


def test_every_tool_has_a_name_of_its_own(ask: Ask) -> None:
    tools = ask(tools=[GROUP, OTHER, PLAIN]).tools

    names = [tool.name for tool in tools]
    assert names == ["mcp__docs__search", "mcp__docs__write", "web__search", "search"]
    assert json.loads(bytes(tools[0].schema or b"")) == {"type": "object"}
    assert tools[1].custom
    assert not any(tool.extra or tool.hosted for tool in tools)


def test_they_are_grouped_again_for_a_vendor_of_this_format(ask: Ask, tell: Tell) -> None:
    tools = [GROUP, PLAIN, OTHER]

    assert tell(ask(tools=tools))[0]["tools"] == tools


def test_a_call_goes_back_with_name_and_namespace_apart(ask: Ask, client: ClientSide) -> None:
    received = ask(tools=[GROUP])
    call = ToolCall(id="c", name="mcp__docs__search", arguments="{}")
    reply = Reply(id="r", model="m", choices=(Choice(parts=(call,)),))

    (item,) = json.loads(client.write_reply(reply, received, Losses()))["output"]

    assert (item["name"], item["namespace"]) == ("search", "mcp__docs__")


def test_a_call_in_the_history_is_named_as_its_tool_is(ask: Ask, tell: Tell) -> None:
    item = {
        "type": "function_call",
        "call_id": "c",
        "name": "search",
        "namespace": "mcp__docs__",
        "arguments": "{}",
    }

    grouped = ask([item], tools=[GROUP])
    loose = ask([item])

    (call,) = grouped.turns[0].parts
    (other,) = loose.turns[0].parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.extra) == ("mcp__docs__search", {})
    assert isinstance(other, ToolCall)
    assert (other.name, set(other.extra)) == ("search", {"namespace"})
    assert tell(grouped)[0]["input"] == [{**item, "type": "function_call"}]
    assert tell(loose)[0]["input"] == [item]


def test_a_choice_may_name_a_namespace(ask: Ask) -> None:
    choice = {"type": "function", "name": "search", "namespace": "web"}

    conversation = ask(tools=[OTHER], tool_choice=choice)

    assert conversation.tool_choice == ToolChoice("only", ("web__search",))


def test_a_long_name_is_shortened_and_stays_its_own() -> None:
    one, two = flat_name("n" * 40, "a" * 40), flat_name("n" * 40, "a" * 39 + "b")

    assert len(one) == len(two) == LONGEST
    assert one != two
    assert one == flat_name("n" * 40, "a" * 40)
