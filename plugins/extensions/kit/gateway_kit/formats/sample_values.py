"""What can be asked and answered, one feature at a time, with words that are easy to find."""

from collections.abc import Mapping
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Choice,
    Conversation,
    Finish,
    Media,
    Output,
    Reasoning,
    Refusal,
    Reply,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    Usage,
)

WORD = "zebra4711"
SIGNATURE = "c2lnbmVkNDcxMQ=="
"""Base64, as some vendors insist."""
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MANY_BYTES = "né 日本語 🦓 — \u2028x"
"""Letters of two, three and four bytes, and a line separator."""

LOOK = Tool(
    name="look",
    description="about4711",
    schema=Raw(
        b'{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
    ),
)
IMAGE = Media(kind="image", media_type="image/png", data=PNG)
FIRST = ToolCall(id="call_00001", name="look", arguments='{"city":"first4711"}')
SECOND = ToolCall(id="call_00002", name="look", arguments='{"city":"second4711"}')


def user(*parts: AnyPart) -> Turn:
    return Turn("user", parts)


def result(call: ToolCall, said: str, **more: Any) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, content=(Text(text=said),), **more)


PLAIN = Conversation(
    turns=(user(Text(text="a question")),), sampling=Sampling(max_tokens=5000), stream=True
)
ROUND = replace(
    PLAIN,
    tools=(LOOK,),
    turns=(
        *PLAIN.turns,
        Turn("assistant", (FIRST, SECOND)),
        user(result(FIRST, "one4711"), result(SECOND, "two4711")),
    ),
)


def sampled(**wish: Any) -> Conversation:
    return replace(PLAIN, sampling=replace(PLAIN.sampling, **wish))


def turned(*turns: Turn) -> Conversation:
    return replace(ROUND, turns=(*PLAIN.turns, *turns))


REQUESTS: Mapping[str, Conversation] = {
    "system text": replace(PLAIN, instructions=(Text(text=WORD),)),
    "turns": turned(Turn("assistant", (Text(text=WORD),)), user(Text(text="and then4711"))),
    "two texts": replace(PLAIN, turns=(user(Text(text="alpha4711"), Text(text="beta4711")),)),
    "system turn": turned(
        Turn("assistant", (Text(text="a"),)),
        Turn("system", (Text(text=WORD),)),
        user(Text(text="b")),
    ),
    "image": replace(PLAIN, turns=(user(Text(text="what is this"), IMAGE),)),
    "tools": replace(PLAIN, tools=(LOOK,)),
    "tool round": ROUND,
    "no arguments": turned(
        Turn("assistant", (replace(FIRST, arguments=""),)), user(result(FIRST, WORD))
    ),
    "tool choice": replace(PLAIN, tools=(LOOK,), tool_choice=ToolChoice("required")),
    "output schema": replace(PLAIN, output=Output(schema=LOOK.schema, name="answer")),
    "letters of many bytes": replace(PLAIN, turns=(user(Text(text=MANY_BYTES)),)),
    "max_tokens": PLAIN,
    "temperature": sampled(temperature=0.5),
    "temperature 0": sampled(temperature=0.0),
    "top_p": sampled(top_p=0.25),
    "top_k": sampled(top_k=17),
    "seed 0": sampled(seed=0),
    "stop": sampled(stop=("halt4711",)),
    "presence_penalty": sampled(presence_penalty=0.5),
    "frequency_penalty": sampled(frequency_penalty=0.5),
}


def reply(*parts: AnyPart, finish: Finish = "stop", **more: Any) -> Reply:
    usage = more.pop("usage", Usage(input_tokens=7011, output_tokens=5012))
    choice = Choice(parts=parts, finish=finish)
    return Reply(id="r4711", model="kit-model", choices=(choice,), usage=usage, created=1, **more)


TEXT = Text(text=WORD)
SIGNED = Reasoning(text="pondering4711", signature=SIGNATURE, origin="kit-vendor")
REPLIES: Mapping[str, Reply] = {
    "text": reply(TEXT),
    "nothing": reply(),
    "letters of many bytes": reply(Text(text=MANY_BYTES)),
    "reasoning": reply(Reasoning(text="pondering4711"), TEXT),
    "signed reasoning": reply(SIGNED, FIRST, finish="tool_calls"),
    "refusal": reply(Refusal(text=WORD), finish="refusal"),
    "image": reply(TEXT, IMAGE),
    "tool call": reply(FIRST, finish="tool_calls"),
    "text and tool calls": reply(TEXT, FIRST, SECOND, finish="tool_calls"),
    "tool call without arguments": reply(replace(FIRST, arguments=""), finish="tool_calls"),
    "length": reply(TEXT, finish="length"),
    "content filter": reply(TEXT, finish="content_filter"),
    "no usage": reply(TEXT, usage=None),
    "parts of usage": reply(
        TEXT,
        usage=Usage(input_tokens=9001, output_tokens=802, cached_tokens=303, reasoning_tokens=44),
    ),
    "cache writes": reply(
        TEXT, usage=Usage(input_tokens=9001, output_tokens=802, cache_write_tokens=505)
    ),
    "several answers": Reply(
        id="r4711",
        model="kit-model",
        created=1,
        choices=(Choice(parts=(TEXT,)), Choice(parts=(Text(text="other4711"),), finish="length")),
        usage=Usage(input_tokens=7011, output_tokens=5012),
    ),
}
