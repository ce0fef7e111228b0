"""How much to think, by model: budgets, adaptive thinking, and what they exclude."""

from collections.abc import Callable
from typing import Any

import pytest
from gateway_format_claude.vendor_requests.models import Traits, traits_of
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Conversation,
    Reasoning,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

Tell = Callable[..., tuple[dict[str, Any], list[str]]]
At = Callable[..., Target]

HI = (Turn("user", (Text(text="hi"),)),)
LOOK = Tool(name="look", schema=Raw(b'{"type":"object"}'))


def thinking(wish: Thinking | None, **members: Any) -> Conversation:
    return Conversation(**{"turns": HI, "dialect": "openai", "thinking": wish, **members})


BY_MODEL: list[tuple[str, Thinking, Any, Any, list[str]]] = [
    ("claude-sonnet-4-5", Thinking(effort="low"), ("enabled", 2048), None, []),
    ("claude-sonnet-4-5", Thinking(budget=5000), ("enabled", 5000), None, []),
    ("claude-sonnet-4-5", Thinking(budget=10), ("enabled", 1024), None, []),
    ("claude-sonnet-4-5", Thinking(enabled=True), ("enabled", 8192), None, []),
    ("claude-sonnet-4-5", Thinking(budget=-1), ("enabled", 8192), None, []),
    ("claude-sonnet-4-5", Thinking(enabled=False), ("disabled", None), None, []),
    ("claude-sonnet-4-5", Thinking(effort="none"), ("disabled", None), None, []),
    ("claude-sonnet-4-5", Thinking(budget=0), ("disabled", None), None, []),
    ("claude-3-5-haiku-latest", Thinking(effort="high"), None, None, ["thinking"]),
    ("claude-3-5-haiku-latest", Thinking(enabled=False), None, None, []),
    ("claude-opus-4-6", Thinking(effort="high"), ("adaptive", None), "high", []),
    ("claude-opus-4-6", Thinking(effort="minimal"), ("adaptive", None), "low", []),
    ("claude-opus-4-6", Thinking(effort="xhigh"), ("adaptive", None), "high", ["effort"]),
    ("claude-opus-4-6", Thinking(budget=5000), ("enabled", 5000), None, []),
    ("claude-opus-4-6", Thinking(enabled=True, budget=-1), ("adaptive", None), None, []),
    ("claude-opus-4-7", Thinking(budget=5000), ("adaptive", None), "medium", []),
    ("claude-opus-4-7", Thinking(effort="xhigh"), ("adaptive", None), "xhigh", []),
    ("claude-opus-4-7", Thinking(enabled=False), None, None, []),
    ("claude-sonnet-5", Thinking(enabled=False), ("disabled", None), None, []),
    ("claude-sonnet-5-5", Thinking(enabled=False), ("between_tools", None), None, []),
    ("claude-opus-5-5", Thinking(enabled=False), None, "low", ["thinking"]),
    ("claude-fable-5-1", Thinking(effort="none"), None, "low", ["thinking"]),
    ("kimi-k2", Thinking(effort="high"), ("enabled", 16384), None, []),
    ("kimi-k2", Thinking(enabled=False), ("disabled", None), None, []),
]


@pytest.mark.parametrize(("model", "wish", "kind", "effort", "losses"), BY_MODEL)
def test_thinking_by_model(
    tell: Tell, at: At, model: str, wish: Thinking, kind: Any, effort: Any, losses: list[str]
) -> None:
    written, lost = tell(thinking(wish), at(model, longest=64000))

    member = written.get("thinking")
    assert kind == (None if member is None else (member["type"], member.get("budget_tokens")))
    assert written.get("output_config", {}).get("effort") == effort
    assert lost == losses


@pytest.mark.parametrize(
    ("style", "kind"), [("adaptive", "adaptive"), ("budget", "enabled"), ("none", None)]
)
def test_a_providers_word_goes_before_the_models_id(
    tell: Tell, at: At, style: str, kind: str | None
) -> None:
    written, losses = tell(thinking(Thinking(effort="high")), at("claude-opus-4-7", thinking=style))

    assert written.get("thinking", {}).get("type") == kind
    assert losses == (["thinking"] if style == "none" else [])


@pytest.mark.parametrize(
    ("received", "longest", "budget", "limit", "losses"),
    [
        (20000, None, 16384, 20000, []),
        (8000, None, 4000, 8000, []),
        (1500, None, 1024, 1500, []),
        (1024, None, None, 1024, ["thinking"]),
        (None, None, 16384, 16384 + 8192, []),
        (None, 8192, 4096, 8192, []),
    ],
)
def test_a_budget_leaves_room_for_the_answer(
    tell: Tell,
    at: At,
    received: int | None,
    longest: int | None,
    budget: int | None,
    limit: int,
    losses: list[str],
) -> None:
    conversation = thinking(Thinking(effort="high"), sampling=Sampling(max_tokens=received))

    written, lost = tell(conversation, at(longest=longest))

    assert written.get("thinking", {}).get("budget_tokens") == budget
    assert (written["max_tokens"], lost) == (limit, losses)


def test_effort_without_thinking_stays_so_for_clients_of_this_dialect(tell: Tell) -> None:
    written, _ = tell(thinking(Thinking(effort="medium"), dialect="claude"))

    assert written["output_config"] == {"effort": "medium"}
    assert "thinking" not in written


@pytest.mark.parametrize(
    ("model", "dialect", "shown"),
    [
        ("claude-opus-4-7", "openai", "summarized"),
        ("kimi-k2", "openai", None),
        ("kimi-k2", "claude", "summarized"),
    ],
)
def test_whether_thinking_is_shown(
    tell: Tell, at: At, model: str, dialect: str, shown: str | None
) -> None:
    wish = Thinking(enabled=True, effort="high", show=True, summary="auto")

    written, _ = tell(thinking(wish, dialect=dialect), at(model, longest=64000))

    assert written["thinking"].get("display") == shown


def test_a_client_of_this_format_that_says_nothing_of_it_gets_what_the_model_shows(
    tell: Tell,
) -> None:
    wish = Thinking(enabled=True, budget=2000, show=True)

    assert "display" not in tell(thinking(wish, dialect="claude"))[0]["thinking"]
    assert tell(thinking(wish, dialect="openai"))[0]["thinking"]["display"] == "summarized"


def test_how_thinking_is_to_be_summed_up_is_recorded(tell: Tell) -> None:
    assert tell(thinking(Thinking(effort="low", summary="detailed")))[1] == ["summary"]
    assert tell(thinking(Thinking(effort="low", summary="auto")))[1] == []


def test_wanting_to_see_thinking_does_not_ask_for_any(tell: Tell, at: At) -> None:
    wish = Thinking(show=True)

    assert "thinking" not in tell(thinking(wish))[0]
    assert tell(thinking(wish), at("claude-opus-5"))[0]["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
    }


SAMPLING: list[tuple[str, Thinking | None, Sampling, dict[str, Any], list[str]]] = [
    (
        "claude-sonnet-4-0",
        None,
        Sampling(temperature=0.5, top_p=0.5, top_k=5),
        {"temperature": 0.5, "top_p": 0.5, "top_k": 5},
        [],
    ),
    ("claude-sonnet-4-0", None, Sampling(temperature=1.5), {"temperature": 1.0}, ["temperature"]),
    (
        "claude-sonnet-4-5",
        None,
        Sampling(temperature=0.5, top_p=0.5),
        {"temperature": 0.5},
        ["top_p"],
    ),
    ("claude-sonnet-4-5", None, Sampling(temperature=1, top_p=0.5), {"top_p": 0.5}, []),
    ("claude-sonnet-4-5", None, Sampling(temperature=0.5, top_p=1), {"temperature": 0.5}, []),
    (
        "claude-sonnet-4-5",
        Thinking(effort="low"),
        Sampling(temperature=0.5, top_p=0.5, top_k=5),
        {},
        ["temperature", "top_p", "top_k"],
    ),
    ("claude-sonnet-4-5", Thinking(effort="low"), Sampling(top_p=0.96), {"top_p": 0.96}, []),
    (
        "claude-sonnet-4-5",
        Thinking(effort="low"),
        Sampling(temperature=1),
        {"temperature": 1.0},
        [],
    ),
    (
        "claude-opus-4-7",
        None,
        Sampling(temperature=0.5, top_p=0.99, top_k=5),
        {},
        ["temperature", "top_p", "top_k"],
    ),
    ("claude-opus-4-7", None, Sampling(temperature=1, top_p=1), {}, []),
]


@pytest.mark.parametrize(("model", "wish", "sampling", "sent", "losses"), SAMPLING)
def test_sampling_beside_thinking(
    tell: Tell,
    at: At,
    model: str,
    wish: Thinking | None,
    sampling: Sampling,
    sent: dict[str, Any],
    losses: list[str],
) -> None:
    written, lost = tell(thinking(wish, sampling=sampling), at(model, longest=64000))

    assert {k: written[k] for k in ("temperature", "top_p", "top_k") if k in written} == sent
    assert lost == losses


@pytest.mark.parametrize(
    ("model", "wish", "kind", "losses"),
    [
        ("claude-sonnet-4-5", None, "any", []),
        ("claude-sonnet-4-5", Thinking(effort="low"), "auto", ["tool_choice"]),
        ("claude-opus-4-6", Thinking(effort="low"), "any", []),
        ("claude-opus-5-5", None, "auto", ["tool_choice"]),
    ],
)
def test_a_forced_call_beside_thinking(
    tell: Tell, at: At, model: str, wish: Thinking | None, kind: str, losses: list[str]
) -> None:
    conversation = thinking(wish, tools=(LOOK,), tool_choice=ToolChoice("required"))

    written, lost = tell(conversation, at(model, longest=64000))

    assert written["tool_choice"] == {"type": kind}
    assert lost == losses


def in_a_tool_loop(*parts: AnyPart) -> Conversation:
    turns = (
        *HI,
        Turn("assistant", (*parts, ToolCall(id="t", name="look"))),
        Turn("user", (ToolResult(call_id="t", content=(Text(text="seen"),)),)),
    )
    return thinking(Thinking(effort="low"), turns=turns, tools=(LOOK,))


SIGNED = Reasoning(text="hm", signature="s", origin="anthropic")


def test_a_tool_loop_that_lost_its_thinking_goes_without(tell: Tell, at: At) -> None:
    written, losses = tell(in_a_tool_loop(Text(text="a")), at(longest=64000))

    assert written["thinking"] == {"type": "disabled"}
    assert losses == ["thinking"]


def test_a_tool_loop_that_kept_its_thinking_goes_on(tell: Tell, at: At) -> None:
    written, losses = tell(in_a_tool_loop(SIGNED, Text(text="a")), at(longest=64000))

    assert written["thinking"]["type"] == "enabled"
    assert written["messages"][1]["content"][0]["type"] == "thinking"
    assert losses == []


def test_adaptive_thinking_does_not_mind_a_lost_block(tell: Tell, at: At) -> None:
    written, losses = tell(in_a_tool_loop(Text(text="a")), at("claude-opus-4-7"))

    assert written["thinking"]["type"] == "adaptive"
    assert losses == []


def test_only_the_last_round_of_tools_must_have_its_thinking(tell: Tell, at: At) -> None:
    earlier = in_a_tool_loop(Text(text="a"))
    later = (
        *earlier.turns,
        Turn("assistant", (SIGNED, ToolCall(id="u", name="look"))),
        Turn("user", (ToolResult(call_id="u"),)),
    )

    written, losses = tell(
        thinking(Thinking(effort="low"), turns=later, tools=(LOOK,)), at(longest=64000)
    )

    assert written["thinking"]["type"] == "enabled"
    assert losses == []


def test_vendors_that_take_unsigned_thinking_keep_it_on(tell: Tell, at: At) -> None:
    written, _ = tell(
        in_a_tool_loop(Reasoning(text="hm")), at("kimi-k2", longest=64000, unsigned_thinking=True)
    )

    assert written["thinking"]["type"] == "enabled"
    assert written["messages"][1]["content"][0]["thinking"] == "hm"


MODELS: list[tuple[str, dict[str, Any]]] = [
    ("claude-2.1", {"style": "none", "own": True}),
    ("claude-instant-1.2", {"style": "none", "own": True}),
    ("claude-3-opus-20240229", {"style": "none"}),
    ("claude-3-7-sonnet-20250219", {"style": "budget", "structured": False}),
    ("claude-opus-4-20250514", {"style": "budget", "one_sampler": False, "hosted": True}),
    ("claude-opus-4-1-20250805", {"style": "budget", "structured": True, "one_sampler": True}),
    ("claude-opus-4-5-20251101", {"efforts": ("low", "medium", "high")}),
    ("claude-haiku-4-5@20251001", {"style": "budget", "structured": True}),
    ("claude-4.5-opus-high-thinking", {"style": "budget", "structured": True}),
    ("us.anthropic.claude-opus-4-6-v1", {"style": "adaptive", "budgets": True}),
    ("anthropic/claude-opus-4.7", {"style": "adaptive", "budgets": False, "sampling": False}),
    ("claude-mythos-preview", {"off": "never", "thinks": True, "system_turns": False}),
    ("claude-opus-4-8", {"system_turns": True, "off": "omit"}),
    ("claude-sonnet-5", {"thinks": True, "off": "disabled", "system_turns": False}),
    ("claude-opus-5", {"thinks": True, "system_turns": True, "forced_tools": True}),
    ("claude-opus-5-5", {"off": "never", "forced_tools": False}),
    ("claude-sonnet-5-5", {"off": "between_tools", "forced_tools": False}),
    ("claude-haiku-5-5", {"off": "disabled", "system_turns": True}),
    ("claude-fable-5", {"off": "never", "forced_tools": True}),
    ("claude-fable-5-1", {"off": "never", "forced_tools": False}),
    ("claude-opus-6", {"off": "never", "sampling": False}),
    ("minimax-m2", {"own": False, "style": "budget", "sampling": True, "structured": False}),
]


@pytest.mark.parametrize(("model", "expected"), MODELS, ids=[m[0] for m in MODELS])
def test_a_models_surface_follows_from_its_id(model: str, expected: dict[str, Any]) -> None:
    traits = traits_of(model, {})

    assert {name: getattr(traits, name) for name in expected} == expected


def test_switches_may_be_words() -> None:
    switched = traits_of(
        "kimi-k2",
        {"structured_outputs": "true", "system_turns": True, "hosted_tools": "True"},
    )

    assert switched == Traits(structured=True, system_turns=True, hosted=True)
    assert not traits_of("claude-opus-5", {"system_turns": "false"}).system_turns
