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


def user_turn(*parts: AnyPart) -> Turn:
    return Turn("user", parts)


def tool_result(call: ToolCall, text: str, **fields: Any) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, content=(Text(text=text),), **fields)


PLAIN = Conversation(
    turns=(user_turn(Text(text="a question")),), sampling=Sampling(max_tokens=5000), stream=True
)
ROUND = replace(
    PLAIN,
    tools=(LOOK,),
    turns=(
        *PLAIN.turns,
        Turn("assistant", (FIRST, SECOND)),
        user_turn(tool_result(FIRST, "one4711"), tool_result(SECOND, "two4711")),
    ),
)


def with_sampling(**settings: Any) -> Conversation:
    return replace(PLAIN, sampling=replace(PLAIN.sampling, **settings))


def with_turns(*turns: Turn) -> Conversation:
    return replace(ROUND, turns=(*PLAIN.turns, *turns))


REQUESTS: Mapping[str, Conversation] = {
    "system text": replace(PLAIN, instructions=(Text(text=WORD),)),
    "turns": with_turns(
        Turn("assistant", (Text(text=WORD),)), user_turn(Text(text="and then4711"))
    ),
    "two texts": replace(PLAIN, turns=(user_turn(Text(text="alpha4711"), Text(text="beta4711")),)),
    "system turn": with_turns(
        Turn("assistant", (Text(text="a"),)),
        Turn("system", (Text(text=WORD),)),
        user_turn(Text(text="b")),
    ),
    "image": replace(PLAIN, turns=(user_turn(Text(text="what is this"), IMAGE),)),
    "tools": replace(PLAIN, tools=(LOOK,)),
    "tool round": ROUND,
    "no arguments": with_turns(
        Turn("assistant", (replace(FIRST, arguments=""),)), user_turn(tool_result(FIRST, WORD))
    ),
    "tool choice": replace(PLAIN, tools=(LOOK,), tool_choice=ToolChoice("required")),
    "output schema": replace(PLAIN, output=Output(schema=LOOK.schema, name="answer")),
    "letters of many bytes": replace(PLAIN, turns=(user_turn(Text(text=MANY_BYTES)),)),
    "max_tokens": PLAIN,
    "temperature": with_sampling(temperature=0.5),
    "temperature 0": with_sampling(temperature=0.0),
    "top_p": with_sampling(top_p=0.25),
    "top_k": with_sampling(top_k=17),
    "seed 0": with_sampling(seed=0),
    "stop": with_sampling(stop=("halt4711",)),
    "presence_penalty": with_sampling(presence_penalty=0.5),
    "frequency_penalty": with_sampling(frequency_penalty=0.5),
}


def build_reply(*parts: AnyPart, finish: Finish = "stop", **fields: Any) -> Reply:
    usage = fields.pop("usage", Usage(input_tokens=7011, output_tokens=5012))
    choice = Choice(parts=parts, finish=finish)
    return Reply(id="r4711", model="kit-model", choices=(choice,), usage=usage, created=1, **fields)


TEXT = Text(text=WORD)
SIGNED = Reasoning(text="pondering4711", signature=SIGNATURE, origin="kit-vendor")
REPLIES: Mapping[str, Reply] = {
    "text": build_reply(TEXT),
    "nothing": build_reply(),
    "letters of many bytes": build_reply(Text(text=MANY_BYTES)),
    "reasoning": build_reply(Reasoning(text="pondering4711"), TEXT),
    "signed reasoning": build_reply(SIGNED, FIRST, finish="tool_calls"),
    "refusal": build_reply(Refusal(text=WORD), finish="refusal"),
    "image": build_reply(TEXT, IMAGE),
    "tool call": build_reply(FIRST, finish="tool_calls"),
    "text and tool calls": build_reply(TEXT, FIRST, SECOND, finish="tool_calls"),
    "tool call without arguments": build_reply(replace(FIRST, arguments=""), finish="tool_calls"),
    "length": build_reply(TEXT, finish="length"),
    "content filter": build_reply(TEXT, finish="content_filter"),
    "no usage": build_reply(TEXT, usage=None),
    "parts of usage": build_reply(
        TEXT,
        usage=Usage(input_tokens=9001, output_tokens=802, cached_tokens=303, reasoning_tokens=44),
    ),
    "cache writes": build_reply(
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
