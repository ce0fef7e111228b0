"""Thinking as the vendor is asked for it, and its proofs given back."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import (
    Conversation,
    Losses,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

Write = Callable[..., dict[str, Any]]


NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"


HELLO = Turn("user", (Text(text="Hello"),))


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


PLACEHOLDER = "skip_thought_signature_validator"


def test_a_signature_goes_back_to_the_one_who_can_read_it(write: Write) -> None:
    turns = (
        HELLO,
        assistant(
            Reasoning(text="hm", signature="r", origin="google"),
            ToolCall(id="1", name="f", signature="sig", origin="google"),
            Text(text="t", signature="txt", origin="~gemini"),
        ),
    )

    mine, lost = reported(write, chat(*turns), model=NEW)
    theirs, missed = reported(write, chat(*turns), model=NEW, provider="other")

    assert [part.get("thoughtSignature") for part in mine["contents"][1]["parts"]] == [
        "r",
        "sig",
        "txt",
    ]
    assert lost == []
    assert [part.get("thoughtSignature") for part in theirs["contents"][1]["parts"]] == [
        None,
        PLACEHOLDER,
        "txt",
    ]
    assert missed == ["reasoning_signature"]


def test_thinking_without_proof_is_shown_and_sealed_thinking_is_left_out(write: Write) -> None:
    turn = assistant(
        Reasoning(text="I think", signature="x", origin="anthropic"),
        Reasoning(sealed="abc", origin="anthropic"),
        Text(text="so"),
    )

    body, lost = reported(write, chat(HELLO, turn))

    assert body["contents"][1]["parts"] == [{"text": "I think", "thought": True}, {"text": "so"}]
    assert lost == ["reasoning_signature"]


LOOP = (
    HELLO,
    assistant(ToolCall(id="0", name="f")),
    user(ToolResult(call_id="0", name="f")),
    assistant(Text(text="done")),
    user(Text(text="next")),
    assistant(ToolCall(id="1", name="f"), ToolCall(id="2", name="f")),
    user(ToolResult(call_id="1", name="f"), ToolResult(call_id="2", name="f")),
    assistant(Text(text="and"), ToolCall(id="3", name="f", signature="s", origin="~gemini")),
    user(ToolResult(call_id="3", name="f"), Text(text="beside")),
    assistant(ToolCall(id="4", name="f")),
)


def signatures(body: dict[str, Any]) -> dict[str, str | None]:
    return {
        part["functionCall"]["id"]: part.get("thoughtSignature")
        for content in body["contents"]
        for part in content["parts"]
        if "functionCall" in part
    }


@pytest.mark.parametrize("model", [NEW, "gemini-flash-latest", "gemini-3.1-pro", "gemini-4-argon"])
def test_the_first_call_of_each_step_of_the_turn_has_a_signature(write: Write, model: str) -> None:
    body, lost = reported(write, chat(*LOOP), model=model)

    assert signatures(body) == {
        "0": None,  # an earlier turn
        "1": PLACEHOLDER,
        "2": None,  # only the first of a step
        "3": "s",
        "4": PLACEHOLDER,
    }
    assert lost == ["reasoning_signature"]


@pytest.mark.parametrize(
    ("model", "options"), [(OLD, {}), ("elsewhere", {}), (NEW, {"signature_placeholder": False})]
)
def test_others_get_no_placeholder(write: Write, model: str, options: Any) -> None:
    body, lost = reported(write, chat(*LOOP), model=model, options=options)

    assert PLACEHOLDER not in str(body)
    assert lost == []


@pytest.mark.parametrize(
    ("model", "thinking", "config", "lost"),
    [
        (NEW, Thinking(effort="low"), {"thinkingLevel": "low"}, []),
        (NEW, Thinking(effort="max"), {"thinkingLevel": "high"}, []),
        (NEW, Thinking(effort="minimal"), {"thinkingLevel": "minimal"}, []),
        (NEW, Thinking(effort="none"), {"thinkingLevel": "minimal"}, ["thinking"]),
        (NEW, Thinking(enabled=False), {"thinkingLevel": "minimal"}, ["thinking"]),
        (NEW, Thinking(enabled=True), None, []),
        (NEW, Thinking(budget=2000), {"thinkingLevel": "low"}, []),
        (NEW, Thinking(budget=-1), None, []),
        ("gemini-3-pro-preview", Thinking(effort="minimal"), {"thinkingLevel": "low"}, []),
        ("gemini-3-pro-preview", Thinking(effort="medium"), {"thinkingLevel": "high"}, []),
        ("gemini-3.1-pro", Thinking(effort="medium"), {"thinkingLevel": "medium"}, []),
        (OLD, Thinking(effort="low"), {"thinkingBudget": 2048}, []),
        (OLD, Thinking(effort="max"), {"thinkingBudget": 24576}, []),
        (OLD, Thinking(effort="none"), {"thinkingBudget": 0}, []),
        (OLD, Thinking(enabled=False), {"thinkingBudget": 0}, []),
        (OLD, Thinking(enabled=True), {"thinkingBudget": -1}, []),
        (OLD, Thinking(budget=5000, show=True), {"thinkingBudget": 5000}, []),
        ("gemini-2.5-pro", Thinking(effort="none"), {"thinkingBudget": 128}, ["thinking"]),
        ("gemini-2.5-pro", Thinking(budget=99999), {"thinkingBudget": 32768}, []),
        ("gemini-2.5-flash-lite", Thinking(budget=1), {"thinkingBudget": 512}, []),
        ("gemini-2.0-flash", Thinking(effort="high", show=True), None, ["thinking"]),
        ("gemini-2.0-flash", Thinking(effort="none"), None, []),
        ("elsewhere", Thinking(effort="medium"), {"thinkingBudget": 8192}, []),
        (OLD, Thinking(summary="detailed"), {"includeThoughts": True}, ["summary"]),
        (OLD, Thinking(show=False), {"includeThoughts": False}, []),
        (OLD, Thinking(enabled=False, summary="auto"), {"thinkingBudget": 0}, []),
    ],
)
def test_thinking_is_asked_for_as_the_model_knows_it(
    write: Write, model: str, thinking: Thinking, config: Any, lost: list[str]
) -> None:
    body, missed = reported(write, chat(thinking=thinking), model=model)

    written = body.get("generationConfig", {}).get("thinkingConfig")
    expected = {**config, "includeThoughts": True} if config and thinking.show else config
    assert written == expected
    assert missed == lost


@pytest.mark.parametrize(
    ("model", "thinking", "config"),
    [
        (NEW, Thinking(enabled=True, budget=6400), {"thinkingBudget": 6400}),
        (NEW, Thinking(enabled=True, effort="low"), {"thinkingLevel": "low"}),
        (OLD, Thinking(enabled=True, effort="low"), {"thinkingBudget": 2048}),
        ("elsewhere", Thinking(enabled=True, effort="low"), {"thinkingLevel": "low"}),
        ("gemini-2.0-flash", Thinking(show=True), {"includeThoughts": True}),
    ],
)
def test_a_client_of_this_dialect_knows_its_model(
    write: Write, model: str, thinking: Thinking, config: Any
) -> None:
    body, lost = reported(write, chat(dialect="gemini", thinking=thinking), model=model)

    assert body["generationConfig"]["thinkingConfig"] == config
    assert lost == []


def test_a_model_that_is_known_not_to_think_is_not_asked_to(write: Write) -> None:
    _, lost = reported(write, chat(thinking=Thinking(effort="high")), model="x", reasoning=False)

    assert lost == ["thinking"]
