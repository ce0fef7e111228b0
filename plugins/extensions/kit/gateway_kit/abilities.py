"""What clients may ask for and vendors may lack, by the names of ``lacks`` in CONFORMANCE.

An ability is known by the conversations that ask for it, so one declaration switches the laws of
formats, the cases of vendors and what the mock vendor says. What is declared is tried as well: an
ability that a vendor is asked for after all, or that is lost without a word, is a failing case.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Conversation,
    Media,
    Output,
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

from .mock_vendor import CONTENTS, Content

STREAM = "stream"
"""Answers in pieces. It has no example: a vendor without it answers whole, whatever is asked."""

_BASE64 = "JVBERi0xLjcKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKOTMyMQ=="
_TOOL = Tool(
    name="weigh9301",
    description="Weighs a stone",
    schema=Raw(b'{"type":"object","properties":{"stone9302":{"type":"string"}}}'),
)
_OTHER = Tool(name="count9303", description="Counts stones", schema=Raw(b'{"type":"object"}'))
_CALL = ToolCall(id="call_00931", name=_TOOL.name, arguments='{"stone9302":"jade"}')
_QUESTION = Turn("user", (Text(text="a question"),))
PLAIN = Conversation(turns=(_QUESTION,), sampling=Sampling(max_tokens=5000))
_TOOLS = replace(PLAIN, tools=(_TOOL, _OTHER))

Asked = Callable[[Conversation], bool]
_decode = msgspec.json.decode


class Ability(Struct, frozen=True, kw_only=True):
    """One thing that a vendor may have nothing of."""

    means: str
    """For the documentation."""
    asked: Asked
    """Whether a conversation needs it."""
    example: Conversation | None = None
    """A conversation that needs it, and as little else as can be."""
    beside: Conversation = PLAIN
    """The same without it."""
    marks: tuple[str, ...] = ()
    """What of the example reaches a vendor that has it; without any, its request differs."""
    said: Callable[[Content], bool] = lambda content: False
    """Whether an answer of the mock vendor needs it."""


def _parts(conversation: Conversation) -> Iterator[AnyPart]:
    for turn in conversation.turns:
        for part in turn.parts:
            yield part
            if isinstance(part, ToolResult):
                yield from part.content


def _media(kind: str) -> Asked:
    return lambda conversation: any(
        isinstance(part, Media) and part.kind == kind for part in _parts(conversation)
    )


def _has_tools(conversation: Conversation) -> bool:
    return bool(conversation.tools) or any(
        isinstance(part, ToolCall | ToolResult) for part in _parts(conversation)
    )


def _is_forced(conversation: Conversation) -> bool:
    return conversation.tool_choice is not None and conversation.tool_choice.mode != "auto"


def _has_several_calls(conversation: Conversation) -> bool:
    calls = (sum(isinstance(part, ToolCall) for part in turn.parts) for turn in conversation.turns)
    return conversation.parallel_tools is not None or any(count > 1 for count in calls)


def _thinks(conversation: Conversation) -> bool:
    return conversation.thinking is not None or any(
        isinstance(part, Reasoning) for part in _parts(conversation)
    )


def _with_media(media: Media) -> Conversation:
    return replace(PLAIN, turns=(Turn("user", (Text(text="look"), media)),))


def _setting(name: str, value: Any, means: str, *marks: str) -> Ability:
    """A number, text or switch of the sampling."""
    return Ability(
        means=means,
        asked=lambda conversation: getattr(conversation.sampling, name) not in (None, (), False),
        example=replace(PLAIN, sampling=replace(PLAIN.sampling, **{name: value})),
        marks=marks,
    )


def _member(name: str, value: Any, means: str, *marks: str) -> Ability:
    """A member of the conversation itself."""
    return Ability(
        means=means,
        asked=lambda conversation: getattr(conversation, name) is not None,
        example=replace(PLAIN, **{name: value}),
        marks=marks,
    )


ABILITIES: Mapping[str, Ability] = {
    STREAM: Ability(
        means="answers in pieces; such a vendor answers whole, and the format gives its events",
        asked=lambda conversation: conversation.stream,
    ),
    "system": Ability(
        means="instructions, and turns of the system's",
        asked=lambda conversation: (
            bool(conversation.instructions)
            or any(turn.role == "system" for turn in conversation.turns)
        ),
        example=replace(PLAIN, instructions=(Text(text="rule9304"),)),
        marks=("rule9304",),
    ),
    "history": Ability(
        means="earlier turns",
        asked=lambda conversation: len(conversation.turns) > 1,
        example=replace(
            PLAIN,
            turns=(_QUESTION, Turn("assistant", (Text(text="earlier9305"),)), _QUESTION),
        ),
        marks=("earlier9305",),
    ),
    "images": Ability(
        means="pictures that a client shows",
        asked=_media("image"),
        example=_with_media(Media(kind="image", media_type="image/png", data=_BASE64)),
        marks=(_BASE64,),
    ),
    "sound": Ability(
        means="sound that a client sends",
        asked=_media("audio"),
        example=_with_media(Media(kind="audio", media_type="audio/wav", data=_BASE64)),
        marks=(_BASE64,),
    ),
    "documents": Ability(
        means="documents that a client sends",
        asked=_media("document"),
        example=_with_media(
            Media(kind="document", media_type="application/pdf", data=_BASE64, name="a9306.pdf")
        ),
        marks=(_BASE64,),
    ),
    "tools": Ability(
        means="tools, their calls and results",
        asked=_has_tools,
        example=_TOOLS,
        marks=("weigh9301", "stone9302"),
        said=lambda content: bool(content.calls),
    ),
    "parallel tools": Ability(
        means="several calls at once, and whether they are wanted",
        asked=_has_several_calls,
        example=replace(_TOOLS, parallel_tools=False),
        beside=_TOOLS,
        said=lambda content: len(content.calls) > 1,
    ),
    "forced tools": Ability(
        means="a tool that has to be called, or none",
        asked=_is_forced,
        example=replace(_TOOLS, tool_choice=ToolChoice("only", (_TOOL.name,))),
        beside=_TOOLS,
    ),
    "thinking": Ability(
        means="thinking, asked for or shown, of this answer and of earlier ones",
        asked=_thinks,
        example=replace(PLAIN, thinking=Thinking(effort="high")),
        said=lambda content: bool(content.thinking),
    ),
    "structured output": _member(
        "output",
        Output(schema=_TOOL.schema, name="shape"),
        "answers in JSON, and of a schema",
        "stone9302",
    ),
    "user": _member("user", "user9307", "who asks", "user9307"),
    "cache key": _member("cache_key", "group9308", "a key for the prompt's cache", "group9308"),
    "service tier": _member("service_tier", "flex", "a class of service"),
    "temperature": _setting("temperature", 0.6193, "how bold an answer is", "0.6193"),
    "top_p": _setting("top_p", 0.3793, "a share of likely words", "0.3793"),
    "top_k": _setting("top_k", 4793, "a number of likely words", "4793"),
    "min_p": _setting("min_p", 0.0493, "the least likely words", "0.0493"),
    "seed": _setting("seed", 48293, "answers that can be had again", "48293"),
    "stop": _setting("stop", ("halt9309",), "texts that end an answer", "halt9309"),
    "presence_penalty": _setting(
        "presence_penalty", 0.5393, "a penalty on what was said", "0.5393"
    ),
    "frequency_penalty": _setting(
        "frequency_penalty", 0.5793, "a penalty on what was said often", "0.5793"
    ),
    "candidates": _setting("candidates", 3, "several answers"),
    "logprobs": _setting("logprobs", True, "how likely words were"),
}


def unknown(names: Iterable[str]) -> Iterator[str]:
    """A sentence for each name that means no ability."""
    for name in names:
        if name not in ABILITIES:
            near = get_close_matches(name, ABILITIES, n=1)
            hint = f"; is {near[0]!r} meant?" if near else f"; there are {', '.join(ABILITIES)}"
            yield f"lacks: {name!r} is no ability{hint}"


def is_asked(conversation: Conversation, lacks: Iterable[str]) -> bool:
    """Whether a conversation needs anything that is lacked."""
    return any(ABILITIES[name].asked(conversation) for name in lacks)


def contents(lacks: frozenset[str]) -> dict[str, Content]:
    """What the mock vendor of one that lacks these can say."""
    return {
        name: content
        for name, content in CONTENTS.items()
        if not any(ABILITIES[each].said(content) for each in lacks)
    }


def is_carried(ability: Ability, with_it: bytes, without: bytes, again: bytes) -> bool:
    """Whether the request for an ability's example has it.

    ``without`` and ``again`` are two requests for what stands beside the example: what differs
    between these, such as an id that is drawn, means nothing.
    """
    if ability.marks:
        return any(mark.encode() in with_it for mark in ability.marks)
    asked, plain, drawn = (dict(_leaves(_decode(each))) for each in (with_it, without, again))
    steady = {place: value for place, value in plain.items() if drawn.get(place) == value}
    known = {place: value for place, value in asked.items() if place in steady}
    return known != steady or bool(asked.keys() - plain.keys())


def _leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            yield from _leaves(inner, (*place, step))
    else:
        yield place, value


def verdict(name: str, *, named: bool, carried: bool) -> str | None:
    """What is wrong with a declaration, where the ability's example was not refused."""
    if named and not carried:
        return None
    if carried:
        return f"the vendor is asked for {name}, which lacks says it has nothing of"
    return f"{name} is neither refused with BadRequest nor named in losses"
