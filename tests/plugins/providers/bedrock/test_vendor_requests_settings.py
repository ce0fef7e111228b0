"""How much to think and how freely to speak, as each maker's models take it."""

from typing import Any

import pytest

from gateway_core import (
    Conversation,
    Reasoning,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

HELLO = Turn("user", (Text(text="Hello"),))
OLD = "anthropic.claude-3-5-sonnet-20240620-v1:0"
BUDGET = "us.anthropic.claude-sonnet-4-20250514-v1:0"
ADAPTIVE = "us.anthropic.claude-sonnet-4-6"
OPUS_47 = "anthropic.claude-opus-4-7"
OPUS_5 = "anthropic.claude-opus-5"
OPUS_55 = "anthropic.claude-opus-5-5"
SONNET_55 = "us.anthropic.claude-sonnet-5-5"
NOVA = "us.amazon.nova-lite-v1:0"
NOVA_2 = "us.amazon.nova-2-lite-v1:0"
OSS = "openai.gpt-oss-120b-1:0"
QWEN = "qwen.qwen3-32b-v1:0"
LLAMA = "meta.llama3-2-1b-instruct-v1:0"
PROFILE = "arn:aws:bedrock:us-east-1:000000000000:application-inference-profile/1arbu5hu2sjr"


def budget(tokens: int) -> dict[str, Any]:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def adaptive() -> dict[str, Any]:
    return {"thinking": {"type": "adaptive"}}


def nova(effort: str) -> dict[str, Any]:
    return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}


@pytest.mark.parametrize(
    ("model", "thinking", "fields", "effort", "lost"),
    [
        (BUDGET, Thinking(enabled=True, budget=2000), budget(2000), None, []),
        (BUDGET, Thinking(budget=5), budget(1024), None, []),
        (BUDGET, Thinking(effort="low"), budget(2048), None, []),
        (BUDGET, Thinking(enabled=True), budget(8192), None, []),
        (BUDGET, Thinking(budget=-1), budget(8192), None, []),
        (BUDGET, Thinking(enabled=False), None, None, []),
        (BUDGET, Thinking(show=True), None, None, []),
        (ADAPTIVE, Thinking(enabled=True), adaptive(), None, []),
        (ADAPTIVE, Thinking(effort="xhigh"), adaptive(), "xhigh", []),
        (ADAPTIVE, Thinking(effort="minimal"), adaptive(), "low", []),
        (ADAPTIVE, Thinking(budget=10_000), adaptive(), "high", []),
        (ADAPTIVE, Thinking(enabled=False), None, None, []),
        (OPUS_47, Thinking(effort="none"), None, None, []),
        (OPUS_5, Thinking(effort="none"), {"thinking": {"type": "disabled"}}, None, []),
        (SONNET_55, Thinking(budget=0), {"thinking": {"type": "between_tools"}}, None, []),
        (OPUS_55, Thinking(enabled=False), None, "low", ["thinking"]),
        ("anthropic.claude-mythos-preview", Thinking(budget=0), None, "low", ["thinking"]),
        (OLD, Thinking(enabled=True), None, None, ["thinking"]),
        ("anthropic.claude-v2", Thinking(enabled=True), None, None, ["thinking"]),
        (NOVA, Thinking(enabled=True), None, None, ["thinking"]),
        (NOVA_2, Thinking(effort="medium"), nova("medium"), None, []),
        (NOVA_2, Thinking(effort="max"), nova("high"), None, ["effort"]),
        (NOVA_2, Thinking(enabled=False), None, None, []),
        (OSS, Thinking(effort="high"), {"reasoning_effort": "high"}, None, []),
        (OSS, Thinking(effort="odd"), {"reasoning_effort": "medium"}, None, []),
        (QWEN, Thinking(effort="low"), {"reasoning_config": "low"}, None, []),
        (LLAMA, Thinking(effort="low"), None, None, ["thinking"]),
        (PROFILE, Thinking(effort="low"), None, None, ["thinking"]),
    ],
)
def test_thinking_is_asked_for_in_each_makers_way(
    tell: Any, model: str, thinking: Thinking, fields: Any, effort: Any, lost: list[str]
) -> None:
    body, losses = tell(Conversation(turns=(HELLO,), thinking=thinking), model)

    assert body.get("additionalModelRequestFields") == fields
    assert body.get("outputConfig", {}).get("effort") == effort
    assert losses == lost


@pytest.mark.parametrize(
    ("received", "limit", "tokens"),
    [(None, 8192 + 2048, 2048), (4096, 4096, 2048), (2000, 2000, 1024), (1024, 1024, None)],
)
def test_a_budget_fits_below_the_limit(
    tell: Any, received: int | None, limit: int, tokens: int | None
) -> None:
    body, losses = tell(
        Conversation(
            turns=(HELLO,),
            sampling=Sampling(max_tokens=received),
            thinking=Thinking(budget=2048),
        ),
        BUDGET,
    )

    assert body["inferenceConfig"] == {"maxTokens": limit}
    assert body.get("additionalModelRequestFields") == (tokens and budget(tokens))
    assert losses == ([] if tokens else ["thinking"])


def test_a_limit_beyond_the_models_own_is_lowered(tell: Any) -> None:
    sampling = Sampling(max_tokens=10_000)

    body, losses = tell(Conversation(turns=(HELLO,), sampling=sampling), BUDGET, longest=4096)

    assert body["inferenceConfig"] == {"maxTokens": 4096}
    assert losses == ["max_tokens"]


ALL = Sampling(temperature=0.5, top_p=0.9, top_k=5)


@pytest.mark.parametrize(
    ("model", "sampling", "inference", "fields", "lost"),
    [
        (OLD, ALL, {"temperature": 0.5, "topP": 0.9}, {"top_k": 5}, []),
        (OLD, Sampling(temperature=1.5), {"temperature": 1.0}, None, ["temperature"]),
        (ADAPTIVE, ALL, {"temperature": 0.5}, {"top_k": 5}, ["top_p"]),
        (ADAPTIVE, Sampling(temperature=0.5, top_p=1.0), {"temperature": 0.5}, None, []),
        (ADAPTIVE, Sampling(top_p=0.9), {"topP": 0.9}, None, []),
        (OPUS_47, ALL, None, None, ["temperature", "top_p", "top_k"]),
        (OPUS_47, Sampling(temperature=1.0, top_p=1.0), None, None, []),
        (
            NOVA,
            ALL,
            {"temperature": 0.5, "topP": 0.9},
            {"inferenceConfig": {"topK": 5}},
            [],
        ),
        (LLAMA, ALL, {"temperature": 0.5, "topP": 0.9}, None, ["top_k"]),
        (
            LLAMA,
            Sampling(min_p=0.1, seed=1, candidates=2),
            None,
            None,
            ["min_p", "seed", "candidates"],
        ),
        (LLAMA, Sampling(presence_penalty=0.0, frequency_penalty=0.0), None, None, []),
        (
            LLAMA,
            Sampling(presence_penalty=1.0, frequency_penalty=1.0, logprobs=True),
            None,
            None,
            ["presence_penalty", "frequency_penalty", "logprobs"],
        ),
    ],
)
def test_sampling_is_what_the_model_takes(
    tell: Any, model: str, sampling: Sampling, inference: Any, fields: Any, lost: list[str]
) -> None:
    body, losses = tell(Conversation(turns=(HELLO,), sampling=sampling), model)

    assert body.get("inferenceConfig") == inference
    assert body.get("additionalModelRequestFields") == fields
    assert losses == lost


def test_thinking_forbids_sampling(tell: Any) -> None:
    body, losses = tell(
        Conversation(turns=(HELLO,), sampling=ALL, thinking=Thinking(enabled=True)), BUDGET
    )

    assert body["inferenceConfig"].keys() == {"maxTokens"}
    assert losses == ["temperature", "top_p", "top_k"]


def test_novas_highest_effort_forbids_a_limit(tell: Any) -> None:
    sampling = Sampling(max_tokens=100, temperature=0.5)

    body, losses = tell(
        Conversation(turns=(HELLO,), sampling=sampling, thinking=Thinking(effort="high")), NOVA_2
    )

    assert "inferenceConfig" not in body
    assert losses == ["max_tokens", "temperature"]


FORCED = {"tools": (Tool(name="f"),), "tool_choice": ToolChoice("required")}


def test_a_forced_call_goes_without_thinking(tell: Any) -> None:
    wish = Thinking(enabled=True)

    received, lost = tell(Conversation(turns=(HELLO,), thinking=wish, **FORCED), BUDGET)
    unasked, none_lost = tell(Conversation(turns=(HELLO,), **FORCED), OPUS_5)

    assert "additionalModelRequestFields" not in received
    assert lost == ["thinking"]
    assert unasked["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}
    assert none_lost == []


CALL = ToolCall(id="c1", name="f")
RESULT = Turn("user", (ToolResult(call_id="c1", content=(Text(text="a"),)),))
SIGNED = Reasoning(text="Hm", signature="s", origin="bedrock")


@pytest.mark.parametrize(
    ("model", "parts", "thinks"),
    [
        (BUDGET, (SIGNED, CALL), True),
        (BUDGET, (Text(text="So"), SIGNED, CALL), True),
        (BUDGET, (CALL,), False),
        (BUDGET, (Reasoning(text="Hm"), CALL), False),
        (ADAPTIVE, (CALL,), True),
    ],
)
def test_an_answered_call_whose_thinking_is_gone_goes_without(
    tell: Any, model: str, parts: Any, thinks: bool
) -> None:
    turns = (HELLO, Turn("assistant", parts), RESULT)

    body, losses = tell(Conversation(turns=turns, thinking=Thinking(budget=2000)), model)

    assert ("additionalModelRequestFields" in body) == thinks
    assert ("thinking" in losses) != thinks
