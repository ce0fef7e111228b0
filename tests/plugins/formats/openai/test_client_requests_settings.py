"""Sampling, thinking, tools and output as a client asks for them."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    ClientSide,
    Conversation,
    Output,
    Thinking,
    ToolChoice,
)

Ask = Callable[..., Conversation]

HI = {"role": "user", "content": "hi"}


def test_sampling_members_have_canonical_names(ask: Ask) -> None:
    sampling = ask(
        max_completion_tokens=10,
        max_tokens=99,
        temperature=1,
        top_p=0.5,
        top_k=3,
        min_p=0.1,
        seed=7,
        stop="END",
        presence_penalty=0.2,
        frequency_penalty=0.3,
        n=2,
        logprobs=True,
        top_logprobs=4,
    ).sampling

    assert sampling.max_tokens == 10
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (1.0, 0.5, 3)
    assert (sampling.min_p, sampling.seed, sampling.stop) == (0.1, 7, ("END",))
    assert (sampling.presence_penalty, sampling.frequency_penalty) == (0.2, 0.3)
    assert (sampling.candidates, sampling.logprobs, sampling.top_logprobs) == (2, True, 4)


def test_the_older_limit_counts_when_it_stands_alone(ask: Ask) -> None:
    assert ask(max_tokens=5.0).sampling.max_tokens == 5
    assert ask(stop=["a", "b"]).sampling.stop == ("a", "b")


def test_labels_have_canonical_names(ask: Ask) -> None:
    conversation = ask(user="u", prompt_cache_key="k", service_tier="flex", model="x/y")

    assert (conversation.user, conversation.cache_key) == ("u", "k")
    assert (conversation.service_tier, conversation.model) == ("flex", "x/y")


@pytest.mark.parametrize(
    ("options", "wanted", "left"),
    [
        (None, False, {}),
        ({"include_usage": True}, True, {}),
        ({"include_usage": False}, False, {}),
        (
            {"include_usage": True, "include_obfuscation": False},
            True,
            {"stream_options": Raw(b'{"include_obfuscation":false}')},
        ),
    ],
)
def test_usage_in_the_stream_is_a_wish(
    ask: Ask, options: Any, wanted: bool, left: dict[str, Raw]
) -> None:
    conversation = ask(stream=True, stream_options=options)

    assert conversation.stream
    assert conversation.stream_usage is wanted
    assert conversation.extra == left


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"reasoning_effort": "low"}, Thinking(effort="low", show=True)),
        ({"reasoning_effort": "none"}, Thinking(effort="none", enabled=False)),
        ({"reasoning": {"effort": "high"}}, Thinking(effort="high", show=True)),
        (
            {"reasoning": {"max_tokens": 2000, "exclude": True}},
            Thinking(budget=2000, show=False),
        ),
        ({"reasoning": {"enabled": True}}, Thinking(enabled=True, show=True)),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            Thinking(enabled=True, budget=9, show=True),
        ),
        ({"thinking": {"type": "disabled"}}, Thinking(enabled=False)),
        (
            {"enable_thinking": True, "thinking_budget": 50},
            Thinking(enabled=True, budget=50, show=True),
        ),
        (
            {"reasoning_effort": "low", "thinking": {"type": "enabled", "budget_tokens": 9}},
            Thinking(enabled=True, effort="low", show=True),
        ),
        ({"include_reasoning": False}, Thinking(show=False)),
        ({}, None),
    ],
)
def test_every_way_of_asking_for_thinking_is_understood(
    ask: Ask, members: dict[str, Any], expected: Thinking | None
) -> None:
    conversation = ask(**members)

    assert conversation.thinking == expected
    assert conversation.extra == {}


def test_a_thinking_object_that_says_more_stays_among_the_extras(ask: Ask) -> None:
    conversation = ask(thinking={"type": "enabled", "clear_thinking": False})

    assert conversation.thinking == Thinking(enabled=True, show=True)
    assert list(conversation.extra) == ["thinking"]


def test_the_header_that_hides_thinking_speaks_of_whole_answers(
    client: ClientSide, call: Callable[..., Call]
) -> None:
    headers = {"x-gateway-reasoning": "off"}

    whole = client.read_request(call({"messages": [HI]}, headers=headers))
    streamed = client.read_request(call({"messages": [HI]}, headers=headers, stream=True))

    assert whole.thinking == Thinking(show=False)
    assert streamed.thinking is None


def test_function_tools_keep_their_schemas_verbatim(ask: Ask) -> None:
    body = (
        b'{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":'
        b'{"name":"f","description":"d","strict":true,"parameters":{"type": "object" }},'
        b'"cache_control":{"type":"ephemeral"}}]}'
    )

    (tool,) = ask(body).tools

    assert (tool.name, tool.description, tool.strict, tool.cache) == ("f", "d", True, "5m")
    assert tool.schema == Raw(b'{"type": "object" }')


def test_other_tools_are_kept_in_their_own_words(ask: Ask) -> None:
    custom = {"type": "custom", "custom": {"name": "calc", "description": "d"}}
    tools = ask(
        tools=[custom, {"type": "openrouter:web_search", "parameters": {}}, {"type": "magic"}],
        web_search_options={"search_context_size": "low"},
    ).tools

    assert (tools[0].name, tools[0].custom, tools[0].dialect) == ("calc", True, "openai")
    assert [tool.hosted for tool in tools[1:]] == ["web_search", "other", "web_search"]
    assert tools[3].raw == Raw(b'{"search_context_size":"low"}')


def test_a_tool_without_a_type_is_a_function(ask: Ask) -> None:
    assert ask(tools=[{"function": {"name": "f"}}]).tools[0].name == "f"


@pytest.mark.parametrize("options", ["low", 1, []])
def test_options_of_a_search_are_an_object(ask: Ask, options: Any) -> None:
    with pytest.raises(BadRequest, match="web_search_options must be an object"):
        ask(web_search_options=options)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ("any", ToolChoice("required")),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("only", ("f",))),
        ({"type": "custom", "custom": {"name": "c"}}, ToolChoice("only", ("c",))),
        ({"type": "tool", "name": "f"}, ToolChoice("only", ("f",))),
        ({"type": "auto"}, ToolChoice("auto")),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": n}} for n in "fg"],
                },
            },
            ToolChoice("only", ("f", "g")),
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            ToolChoice("auto", ("f",)),
        ),
    ],
)
def test_the_choice_among_tools(ask: Ask, choice: Any, expected: ToolChoice) -> None:
    assert ask(tool_choice=choice).tool_choice == expected


def test_older_functions_are_tools_of_a_client_that_wants_the_older_answer(ask: Ask) -> None:
    conversation = ask(functions=[{"name": "add", "parameters": {}}], function_call={"name": "add"})

    (tool,) = conversation.tools
    assert (tool.name, tool.dialect) == ("add", "openai-functions")
    assert conversation.tool_choice == ToolChoice("only", ("add",))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, Output()),
        ({"type": "json_object", "schema": {}}, Output(schema=Raw(b"{}"))),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {}, "strict": True}},
            Output(schema=Raw(b"{}"), name="n", strict=True),
        ),
    ],
)
def test_the_form_of_the_answer(ask: Ask, form: Any, expected: Output | None) -> None:
    conversation = ask(response_format=form)

    assert conversation.output == expected
    assert conversation.extra == {}


def test_an_unknown_form_stays_among_the_extras(ask: Ask) -> None:
    conversation = ask(response_format={"type": "grammar", "grammar": "x"})

    assert conversation.output is None
    assert list(conversation.extra) == ["response_format"]
