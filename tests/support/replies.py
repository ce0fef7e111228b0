"""Features of answers as neutral replies, and probes for them in each client format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from minimal_requests import FORMATS, PNG, WORD
from msgspec import Raw
from request_probes import Probe, at, says

from gateway_core import (
    AnyPart,
    Choice,
    Citation,
    Finish,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    Usage,
)


@dataclass
class Answered:
    name: str
    reply: Reply
    found: Mapping[str, Probe]
    lost: tuple[str, ...] = ()


def reply(*parts: AnyPart, finish: Finish = "stop", **more: Any) -> Reply:
    usage = more.pop("usage", Usage(input_tokens=7, output_tokens=5))
    choice = Choice(parts=parts, finish=finish, logprobs=more.pop("logprobs", None))
    return Reply(id="r1", model="m", choices=(choice,), usage=usage, created=1, **more)


def everywhere(probe: Probe) -> Mapping[str, Probe]:
    return dict.fromkeys(FORMATS, probe)


def finishes(
    openai: str, status: Probe, claude: str, gemini: str, ollama: str
) -> Mapping[str, Probe]:
    return {
        "openai": at("choices", 0, "finish_reason", equals=openai),
        "openai-responses": status,
        "claude": at("stop_reason", equals=claude),
        "gemini": at("candidates", 0, "finishReason", equals=gemini),
        "ollama": at("done_reason", equals=ollama),
    }


TEXT = Text(text=WORD)
CALL = ToolCall(id="call_1", name="look", arguments='{"city":"zebra-4711"}')
LOGPROBS = Raw(b'{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]}]}')
CITED = Text(
    text=WORD,
    citations=(Citation(url="https://source.example/a", title="A", start=0, end=5),),
)

REPLIES: tuple[Answered, ...] = (
    Answered("text", reply(TEXT), everywhere(says(WORD))),
    Answered("tool call", reply(CALL, finish="tool_calls"), everywhere(says("look"))),
    Answered(
        "parallel tool calls",
        reply(CALL, ToolCall(id="call_2", name="hear", arguments="{}"), finish="tool_calls"),
        everywhere(says("hear")),
    ),
    Answered(
        "thinking shown", reply(Reasoning(text="pondering"), TEXT), everywhere(says("pondering"))
    ),
    Answered(
        "signed thinking before a tool call",
        reply(Reasoning(text="pondering", signature="sig", origin="v"), CALL, finish="tool_calls"),
        {**everywhere(says("_gwS1_")), "gemini": says("X2d3UzFf")},
        ("reasoning_signature",),
    ),
    Answered("refusal", reply(Refusal(text=WORD), finish="refusal"), everywhere(says(WORD))),
    Answered(
        "image",
        reply(Media(kind="image", media_type="image/png", data=PNG)),
        everywhere(says(PNG)),
        ("image",),
    ),
    Answered(
        "citation",
        reply(CITED),
        everywhere(says("https://source.example/a")),
        ("citations",),
    ),
    Answered(
        "finish: stop",
        reply(TEXT),
        finishes("stop", at("status", equals="completed"), "end_turn", "STOP", "stop"),
    ),
    Answered(
        "finish: length",
        reply(TEXT, finish="length"),
        finishes(
            "length",
            at("incomplete_details", "reason", equals="max_output_tokens"),
            "max_tokens",
            "MAX_TOKENS",
            "length",
        ),
    ),
    Answered(
        "finish: tool calls",
        reply(CALL, finish="tool_calls"),
        finishes("tool_calls", at("status", equals="completed"), "tool_use", "STOP", "stop"),
    ),
    Answered(
        "finish: content filter",
        reply(TEXT, finish="content_filter"),
        finishes(
            "content_filter",
            at("incomplete_details", "reason", equals="content_filter"),
            "refusal",
            "SAFETY",
            "content_filter",
        ),
    ),
    Answered(
        "usage",
        reply(TEXT, usage=Usage(input_tokens=4711, output_tokens=815)),
        {wire: (lambda sent: "4711" in str(sent) and "815" in str(sent)) for wire in FORMATS},
    ),
    Answered(
        "cached tokens",
        reply(TEXT, usage=Usage(input_tokens=9000, output_tokens=5, cached_tokens=4711)),
        everywhere(says("4711")),
        ("cached_tokens",),
    ),
    Answered(
        "reasoning tokens",
        reply(TEXT, usage=Usage(input_tokens=9, output_tokens=9000, reasoning_tokens=4711)),
        everywhere(says("4711")),
        ("reasoning_tokens",),
    ),
    Answered(
        "logprobs",
        reply(TEXT, logprobs=LOGPROBS),
        everywhere(says("-0.5")),
        ("logprobs",),
    ),
    Answered(
        "several answers",
        Reply(
            id="r1",
            model="m",
            created=1,
            choices=(Choice(parts=(TEXT,)), Choice(parts=(Text(text="another"),))),
        ),
        everywhere(says("another")),
        ("candidates",),
    ),
)
