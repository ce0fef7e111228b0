"""What a vendor of this format is told of tools, settings and members without a name."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Conversation,
    Foreign,
    Losses,
    Output,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    ToolResult,
    Turn,
)

Json = dict[str, Any]
Tell = Callable[..., tuple[Json, list[str]]]
Aim = Callable[..., Target]
OWN = "openai-responses"
HELLO = Turn("user", (Text(text="hello"),))


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def foreign(*turns: Turn, **more: Any) -> Conversation:
    """A conversation of another dialect."""
    return Conversation(turns=turns or (HELLO,), dialect="other", **more)


def own(*turns: Turn, **more: Any) -> Conversation:
    return Conversation(turns=turns or (HELLO,), dialect=OWN, **more)


def test_tools_are_declared(tell: Tell) -> None:
    tools = (
        Tool(name="f", description="d", schema=raw({"type": "object"}), strict=True),
        Tool(name="g"),
        Tool(name="c", custom=True, description="e"),
        Tool(name="googleSearch", hosted="web_search", raw=Raw(b"{}"), dialect="other"),
        Tool(name="x", hosted="code_execution", raw=Raw(b"{}"), dialect="other"),
    )

    written, lost = tell(foreign(tools=tools, parallel_tools=False))

    assert written["tools"] == [
        {
            "type": "function",
            "name": "f",
            "description": "d",
            "parameters": {"type": "object"},
            "strict": True,
        },
        {
            "type": "function",
            "name": "g",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
        {"type": "custom", "name": "c", "description": "e"},
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]
    assert written["parallel_tool_calls"] is False
    assert lost == []


@pytest.mark.parametrize(
    ("tool", "loss"),
    [
        (Tool(name="x", hosted="computer", raw=Raw(b"{}"), dialect="other"), "tool:computer"),
        (Tool(name="x", hosted="web_fetch", raw=Raw(b"{}"), dialect="other"), "tool:web_fetch"),
        (Tool(name="x", hosted="other", raw=Raw(b"{}"), dialect="other"), "tool:other"),
    ],
)
def test_a_service_this_vendor_does_not_have_is_a_loss(tell: Tell, tool: Tool, loss: str) -> None:
    written, lost = tell(foreign(tools=(tool,), tool_choice=ToolChoice("auto")))

    assert lost == [loss]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(written)


def test_a_vendor_may_run_no_services(tell: Tell, aim: Aim) -> None:
    search = Tool(name="x", hosted="web_search", raw=Raw(b"{}"), dialect="other")

    assert tell(foreign(tools=(search,)), aim(hosted_tools=""))[1] == ["tool:web_search"]


def test_further_losses_of_tools_are_named(tell: Tell) -> None:
    grammar = raw({"format": {"type": "grammar"}})
    tools = (
        Tool(name="f", cache="5m", extra={"novelty": Raw(b"1")}),
        Tool(name="c", custom=True, raw=grammar, dialect="other"),
    )

    assert tell(foreign(tools=tools))[1] == ["cache_control", "tools.novelty", "tool:grammar"]


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        (ToolChoice("required"), "required"),
        (ToolChoice("none"), "none"),
        (ToolChoice("only", ("f",)), {"type": "function", "name": "f"}),
        (ToolChoice("only", ("c",)), {"type": "custom", "name": "c"}),
        (
            ToolChoice("only", ("f", "c")),
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}],
            },
        ),
    ],
)
def test_a_choice_is_said(tell: Tell, choice: ToolChoice, written: Any) -> None:
    tools = (Tool(name="f"), Tool(name="c", custom=True))

    body, lost = tell(foreign(tools=tools, tool_choice=choice))

    assert (body["tool_choice"], lost) == (written, [])


def test_a_choice_of_what_is_not_there_is_a_loss(tell: Tell) -> None:
    named = ToolChoice("only", ("gone",))

    assert tell(foreign(tools=(Tool(name="f"),), tool_choice=named))[1] == ["tool_choice"]
    assert tell(foreign(tool_choice=ToolChoice("required")))[1] == ["tool_choice"]


def test_sampling_is_said_or_named_as_lost(tell: Tell) -> None:
    sampling = Sampling(
        max_tokens=100,
        temperature=0.5,
        top_p=0.25,
        top_k=3,
        min_p=0.1,
        seed=1,
        stop=("x",),
        presence_penalty=0.5,
        frequency_penalty=0.0,
        candidates=2,
        logprobs=True,
        top_logprobs=4,
    )

    written, lost = tell(foreign(sampling=sampling))

    assert written["max_output_tokens"] == 100
    assert (written["temperature"], written["top_p"], written["top_logprobs"]) == (0.5, 0.25, 4)
    assert written["include"] == ["message.output_text.logprobs"]
    assert lost == ["presence_penalty", "top_k", "min_p", "seed", "stop", "candidates"]


def test_a_vendor_may_take_penalties(tell: Tell, aim: Aim) -> None:
    sampling = Sampling(presence_penalty=0.5, frequency_penalty=0.0)

    written, lost = tell(foreign(sampling=sampling), aim(penalties=True))

    assert (written["presence_penalty"], written["frequency_penalty"], lost) == (0.5, 0.0, [])


def test_a_limit_stays_within_what_the_vendor_allows(tell: Tell, aim: Aim) -> None:
    def limit(tokens: int, to: Target | None = None) -> int:
        written = tell(foreign(sampling=Sampling(max_tokens=tokens)), to)[0]
        return int(written["max_output_tokens"])

    assert limit(1) == 16
    assert limit(9000, aim(max_output=4096)) == 4096
    assert tell(own(sampling=Sampling(max_tokens=1)))[0]["max_output_tokens"] == 1


ENCRYPTED = ["reasoning.encrypted_content"]


@pytest.mark.parametrize(
    ("thinking", "reasoning", "include"),
    [
        (Thinking(enabled=True, effort="high"), {"effort": "high"}, ENCRYPTED),
        (Thinking(enabled=True), {"effort": "medium"}, ENCRYPTED),
        (Thinking(budget=5000), {"effort": "medium"}, ENCRYPTED),
        (Thinking(enabled=False), {"effort": "none"}, None),
        (Thinking(effort="low", show=True), {"effort": "low", "summary": "auto"}, ENCRYPTED),
        (
            Thinking(effort="low", summary="detailed", show=True),
            {"effort": "low", "summary": "detailed"},
            ENCRYPTED,
        ),
        (Thinking(), None, ENCRYPTED),
        (None, None, None),
    ],
)
def test_thinking_is_said(
    tell: Tell, thinking: Thinking | None, reasoning: Json | None, include: list[str] | None
) -> None:
    written, lost = tell(foreign(thinking=thinking))

    assert (written.get("reasoning"), written.get("include"), lost) == (reasoning, include, [])


def test_a_model_that_thinks_is_always_asked_for_what_brings_it_back(tell: Tell, aim: Aim) -> None:
    assert tell(foreign(), aim(reasoning=True))[0]["include"] == ENCRYPTED
    assert "include" not in tell(foreign(), aim(reasoning=True, encrypted_reasoning=False))[0]


def test_a_model_that_does_not_think_is_not_asked_to(tell: Tell, aim: Aim) -> None:
    received = foreign(thinking=Thinking(enabled=True, effort="high"))

    written, lost = tell(received, aim(reasoning=False))

    assert not {"reasoning", "include"} & set(written)
    assert lost == ["thinking"]


@pytest.mark.parametrize(("word", "written"), [("minimal", {"effort": "minimal"}), ("", None)])
def test_a_vendor_may_call_no_thinking_otherwise(
    tell: Tell, aim: Aim, word: str, written: Json | None
) -> None:
    received = foreign(thinking=Thinking(enabled=False))

    assert tell(received, aim(no_thinking=word))[0].get("reasoning") == written


def test_the_form_of_the_answer_is_said(tell: Tell) -> None:
    output = Output(schema=raw({"type": "object"}), name="my form!", description="d", strict=False)

    assert tell(foreign(output=output))[0]["text"] == {
        "format": {
            "type": "json_schema",
            "name": "my_form_",
            "schema": {"type": "object"},
            "description": "d",
            "strict": False,
        }
    }
    nameless = tell(foreign(output=Output(schema=raw({}))))[0]["text"]["format"]
    assert (nameless["name"], "strict" in nameless) == ("response", False)


def test_json_is_mentioned_because_the_vendor_insists(tell: Tell) -> None:
    written, _ = tell(foreign(output=Output()))
    mentioned, _ = tell(foreign(Turn("user", (Text(text="as Json"),)), output=Output()))

    assert written["text"] == {"format": {"type": "json_object"}}
    assert written["input"][-1]["content"] == "Answer with a JSON object."
    assert len(mentioned["input"]) == 1


def test_opaque_values_are_kept_short(tell: Tell) -> None:
    written, _ = tell(foreign(user="u" * 80, cache_key="k" * 80, service_tier="flex"))
    plain, _ = tell(foreign(user="u", cache_key="k"))

    assert (len(written["user"]), len(written["prompt_cache_key"])) == (64, 64)
    assert written["user"] != written["prompt_cache_key"]
    assert written["service_tier"] == "flex"
    assert (plain["user"], plain["prompt_cache_key"]) == ("u", "k")


def test_both_names_of_the_user_go_back(tell: Tell) -> None:
    written, _ = tell(own(user="new", extra={"user": raw("old")}))

    assert (written["user"], written["safety_identifier"]) == ("old", "new")


def test_what_has_no_place_is_named(tell: Tell) -> None:
    conversation = foreign(
        Turn("user", (Text(text="t", cache="5m", extra={"a": Raw(b"1")}),), name="n"),
        Turn(
            "assistant",
            (
                Foreign(dialect="other", type="server_tool_use", raw=Raw(b"{}")),
                Text(text="x", extra={"b": Raw(b"1")}),
            ),
            extra={"c": Raw(b"1")},
        ),
        Turn("user", (ToolResult(call_id="z", failed=True, extra={"d": Raw(b"1")}),)),
        service_tier="standard_only",
        extra={"e": Raw(b"1")},
    )

    assert tell(conversation)[1] == [
        "name",
        "cache_control",
        "a",
        "c",
        "part:server_tool_use",
        "b",
        "tool_error",
        "d",
        "service_tier",
        "e",
    ]


def test_a_vendor_may_know_cache_breakpoints(tell: Tell, aim: Aim) -> None:
    turn = Turn("user", (Text(text="a", cache="5m"), Text(text="b", cache="1h")))

    written, lost = tell(foreign(turn), aim(cache_breakpoints=True))

    assert [piece["prompt_cache_breakpoint"] for piece in written["input"][0]["content"]] == [
        {"mode": "explicit"},
        {"mode": "explicit", "ttl": "12h"},
    ]
    assert lost == []


def test_an_instruction_with_a_breakpoint_stands_in_the_input(tell: Tell) -> None:
    written, _ = tell(own(instructions=(Text(text="one", cache="5m"),)))

    assert "instructions" not in written
    assert written["input"][0]["role"] == "developer"
    assert "prompt_cache_breakpoint" in written["input"][0]["content"][0]


def test_a_background_answer_is_asked_for_in_the_foreground(tell: Tell) -> None:
    written, lost = tell(own(extra={"background": Raw(b"true")}))
    _, harmless = tell(own(extra={"background": Raw(b"false")}))

    assert "background" not in written
    assert (lost, harmless) == (["background"], [])


def test_members_go_back_to_where_they_stood(tell: Tell) -> None:
    extra = {
        "include": raw(["file_search_call.results"]),
        "text.verbosity": raw("low"),
        "text.format.novelty": raw(1),
        "reasoning.context": raw("all_turns"),
        "x.y": raw(2),
    }

    written, lost = tell(
        own(
            extra=extra,
            thinking=Thinking(),
            output=Output(schema=raw({}), name="n"),
        )
    )

    assert written["include"] == ["file_search_call.results", "reasoning.encrypted_content"]
    assert written["text"] == {
        "format": {"type": "json_schema", "name": "n", "schema": {}, "novelty": 1},
        "verbosity": "low",
    }
    assert written["reasoning"] == {"context": "all_turns"}
    assert (written["x.y"], lost) == (2, [])


@pytest.mark.parametrize(
    "name", ["previous_response_id", "conversation", "prompt", "truncation", "metadata"]
)
def test_what_only_this_dialect_has_is_lost_elsewhere(tell: Tell, name: str) -> None:
    assert tell(foreign(extra={name: raw("x")}))[1] == [name]


def test_json_numbers_and_escapes_pass_untouched(tell: Tell, vendor: Any, aim: Aim) -> None:
    schema = Raw(b'{"maximum":12345678901234567890123,"x":1.0,"e":1e2,"t":"\\u00e9"}')
    tools = (Tool(name="f", schema=schema),)

    body = vendor.write_request(foreign(tools=tools), aim(), Losses())

    assert bytes(schema) in body
    assert json.loads(body)["model"] == "m-1"
