"""Laws of what clients ask: a body for each thing, and the conversation that it has to become.

Where a format has a vendor side, the kit writes the bodies itself. For one that only clients
speak its author gives them, by the names below.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
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
    WireFormat,
)
from gateway_kit.abilities import is_asked

from .case import Law, expect, expect_equal, law
from .harness import FormatHarness
from .marks import JPEG, SCHEMA
from .normal_form import parse_arguments, parse_schema, without_spaces
from .sample_values import SIGNATURE

QUESTION = Turn("user", (Text(text="a question"),))
PLAIN = Conversation(turns=(QUESTION,))
CITY = Tool(name="look", description="Looks up a city", schema=SCHEMA)
TIME = Tool(name="ask_time", description="Asks the time", schema=Raw(b'{"type":"object"}'))
CALLS = (
    ToolCall(id="call_00001", name="look", arguments='{"city4711":"Rome"}'),
    ToolCall(id="call_00002", name="ask_time", arguments="{}"),
)


def _said(*turns: Turn, **fields: Any) -> Conversation:
    return replace(PLAIN, turns=turns, **fields)


def _result(call: ToolCall, text: str, **fields: Any) -> ToolResult:
    return ToolResult(call_id=call.id, content=(Text(text=text),), **fields)


ROUND = _said(
    QUESTION,
    Turn("assistant", CALLS),
    Turn("user", (_result(CALLS[0], "sunny"), _result(CALLS[1], "too late", failed=True))),
    tools=(CITY, TIME),
)
SAMPLED: Mapping[str, Any] = {
    "max_tokens": 5417,
    "temperature": 0.61,
    "top_p": 0.37,
    "top_k": 47,
    "seed": 48213,
    "stop": ("halt one", "halt two"),
    "presence_penalty": 0.53,
    "frequency_penalty": 0.57,
}
ASKED: Mapping[str, Conversation] = {
    "question": PLAIN,
    "stream": replace(PLAIN, stream=True),
    "system texts": replace(PLAIN, instructions=(Text(text="Be brief."), Text(text="Be kind."))),
    "earlier turns": _said(
        QUESTION, Turn("assistant", (Text(text="an answer"),)), Turn("user", (Text(text="why"),))
    ),
    "system turn": _said(QUESTION, Turn("system", (Text(text="Stop."),)), QUESTION),
    "two texts": _said(Turn("user", (Text(text="one"), Text(text="two")))),
    "image": _said(
        Turn(
            "user",
            (Text(text="what"), Media(kind="image", media_type="image/jpeg", data=JPEG)),
        )
    ),
    "tools": replace(PLAIN, tools=(CITY, TIME)),
    "tool round": ROUND,
    "tool required": replace(PLAIN, tools=(CITY, TIME), tool_choice=ToolChoice("required")),
    "one tool": replace(PLAIN, tools=(CITY, TIME), tool_choice=ToolChoice("only", ("look",))),
    "output schema": replace(PLAIN, output=Output(schema=SCHEMA)),
    "user": replace(PLAIN, user="user-1"),
    "unknown member": replace(PLAIN, extra={"kit_unknown": Raw(b'"kept"')}),
    **{name: replace(PLAIN, sampling=Sampling(**{name: value})) for name, value in SAMPLED.items()},
}
"""What a client of any format may ask for, by a name."""
_SIGNED = Reasoning(text="pondering4711", signature=SIGNATURE)
_ANSWERED = replace(ROUND, turns=ROUND.turns[:2])
FURTHER: Mapping[str, Conversation] = {
    "image address": _said(
        Turn("user", (Text(text="what"), Media(kind="image", url="https://kit.example/4711.png")))
    ),
    "document": _said(
        Turn(
            "user",
            (
                Text(text="read"),
                Media(kind="document", media_type="application/pdf", data=JPEG, name="a4711.pdf"),
            ),
        )
    ),
    "sound": _said(Turn("user", (Media(kind="audio", media_type="audio/wav", data=JPEG),))),
    "speaker": _said(Turn("user", (Text(text="a question"),), "Ada")),
    "signed thinking": _said(
        QUESTION, Turn("assistant", (_SIGNED, Text(text="an answer"))), QUESTION
    ),
    "two results": _said(
        *_ANSWERED.turns,
        Turn(
            "user",
            (
                ToolResult(call_id="call_00001", content=(Text(text="one"), Text(text="two"))),
                _result(CALLS[1], "three"),
            ),
        ),
        tools=(CITY, TIME),
    ),
    "image in a result": _said(
        *_ANSWERED.turns,
        Turn(
            "user",
            (
                ToolResult(
                    call_id="call_00001",
                    content=(
                        Text(text="seen"),
                        Media(kind="image", media_type="image/jpeg", data=JPEG),
                    ),
                ),
                _result(CALLS[1], "three"),
            ),
        ),
        tools=(CITY, TIME),
    ),
    "image address in a result": _said(
        *_ANSWERED.turns,
        Turn(
            "user",
            (
                ToolResult(
                    call_id="call_00001",
                    content=(Media(kind="image", url="https://kit.example/4712.png"),),
                ),
                _result(CALLS[1], "three"),
            ),
        ),
        tools=(CITY, TIME),
    ),
    "any tool": replace(PLAIN, tools=(CITY, TIME), tool_choice=ToolChoice("auto")),
    "no tool": replace(PLAIN, tools=(CITY, TIME), tool_choice=ToolChoice("none")),
    "two of the tools": replace(
        PLAIN, tools=(CITY, TIME), tool_choice=ToolChoice("only", ("look", "ask_time"))
    ),
    "strict tool": replace(PLAIN, tools=(replace(CITY, strict=True),)),
    "one at a time": replace(PLAIN, tools=(CITY, TIME), parallel_tools=False),
    "several at once": replace(PLAIN, tools=(CITY, TIME), parallel_tools=True),
    "effort": replace(PLAIN, thinking=Thinking(effort="high")),
    "budget": replace(PLAIN, thinking=Thinking(budget=5021)),
    "min_p": replace(PLAIN, sampling=Sampling(min_p=0.07)),
    "candidates": replace(PLAIN, sampling=Sampling(candidates=3)),
    "top_logprobs": replace(PLAIN, sampling=Sampling(logprobs=True, top_logprobs=4)),
    "service tier": replace(PLAIN, service_tier="kit-fast"),
    "cache key": replace(PLAIN, cache_key="kit-key"),
    "ordered schema": replace(
        PLAIN, output=Output(schema=Raw(b'{"type":"object","properties":{"z":{},"a":{}}}'))
    ),
}
"""What some clients may ask for besides; an author names the bodies of those that a format has."""
Bodies = Mapping[str, Mapping[str, Any] | None]


def is_only_asked(wire: WireFormat) -> bool:
    return wire.client is not None and wire.vendor is None


def _facts(conversation: Conversation) -> dict[str, Any]:
    choice = conversation.tool_choice
    return {
        "instructions": [part.text for part in conversation.instructions],
        "turns": [(turn.role, [_part(part) for part in turn.parts]) for turn in conversation.turns],
        "tools": [
            (tool.name, tool.description, parse_schema(tool.schema)) for tool in conversation.tools
        ],
        "tool_choice": choice and (choice.mode, choice.names),
        "output": conversation.output and parse_schema(conversation.output.schema),
        "user": conversation.user,
        "stream": conversation.stream,
        "extra": {name: bytes(raw) for name, raw in conversation.extra.items()},
    }


def _further_facts(conversation: Conversation) -> dict[str, Any]:
    """What few formats have a member for."""
    parts = [part for turn in conversation.turns for part in turn.parts]
    output = conversation.output
    return {
        "media": [
            (part.kind, part.media_type, part.data, part.url, part.name)
            for part in parts
            if isinstance(part, Media)
        ],
        "thinking said": [
            (part.text, part.signature) for part in parts if isinstance(part, Reasoning)
        ],
        "arguments": [
            without_spaces(part.arguments) for part in parts if isinstance(part, ToolCall)
        ],
        "speakers": [turn.name for turn in conversation.turns],
        "strict": [tool.strict for tool in conversation.tools],
        "parallel_tools": conversation.parallel_tools,
        "effort": conversation.thinking and conversation.thinking.effort,
        "budget": conversation.thinking and conversation.thinking.budget,
        "service_tier": conversation.service_tier,
        "cache_key": conversation.cache_key,
        "order of the schema": output
        and output.schema
        and without_spaces(bytes(output.schema).decode()),
    }


def _part(part: Any) -> tuple[Any, ...]:
    match part:
        case ToolCall(id=id, name=name, arguments=arguments):
            return "call", id, name, parse_arguments(arguments)
        case ToolResult(call_id=id, content=content, failed=failed):
            return "result", id, [_part(each) for each in content], failed
        case Media(kind=kind, media_type=media_type, data=data):
            return "media", kind, media_type, data
    return type(part).__name__, part.text


@law(
    "asked/known",
    "nothing says how clients ask for these things, so they were not tried",
    "name the bodies in CONFORMANCE as {'requests': {'acme': 'acme_requests:BODIES'}}, and None "
    "for what your format has no member for",
    is_only_asked,
)
def known(harness: FormatHarness) -> None:
    missing = [
        name
        for name, conversation in ASKED.items()
        if name not in harness.bodies and not is_asked(conversation, harness.lacks)
    ]
    expect(not missing, missing)
    strange = sorted(harness.bodies.keys() - ASKED.keys() - FURTHER.keys())
    expect(not strange, f"no name of the kit: {strange}")
    expect(harness.bodies.get("question") is not None, "a question at least has a body")


def asked_law(name: str, conversation: Conversation) -> Law:
    @law(
        f"asked/{name}",
        f"what a client asks for becomes another conversation: {name}",
        "read each member into the field that means it, and what has none into extra",
        is_only_asked,
    )
    def read(harness: FormatHarness) -> None:
        body = harness.bodies.get(name)
        if body is None:
            return
        expect(not is_asked(conversation, harness.lacks), "there is a body for what is lacking")
        plain = harness.bodies.get("question") or {}
        call = harness.call(msgspec.json.encode(body), stream=conversation.stream)
        actual = harness.client.read_request(call)
        usual = harness.read_request(msgspec.json.encode(plain))
        expect_equal(_facts(actual), _facts(conversation))
        for field in Sampling.__struct_fields__:
            wanted = getattr(conversation.sampling, field)
            if wanted in (None, ()):
                # Some formats demand a limit of every request.
                wanted = getattr(usual.sampling, field)
            expect_equal(getattr(actual.sampling, field), wanted, f"{field}:")

    return read


@law(
    "asked/routing",
    "an endpoint does not find the model or the wish for a stream",
    "read them from the path, the headers or the body's members, as your clients send them",
    is_only_asked,
)
def routing(harness: FormatHarness) -> None:
    for endpoint in harness.wire.endpoints:
        for name, stream in (("question", False), ("stream", True)):
            body = harness.bodies.get(name)
            if body is None:
                continue
            call = harness.call(msgspec.json.encode({**body, "model": "kit-asked"}))
            intake = endpoint.read({"model": "kit-asked"}, {}, call.members)
            expect_equal((intake.model, intake.stream), ("kit-asked", stream))


def further_law(name: str, conversation: Conversation) -> Law:
    read = asked_law(name, conversation)

    @law(read.id, read.claim, read.remedy, is_only_asked)
    def read_further(harness: FormatHarness) -> None:
        body = harness.bodies.get(name)
        if body is None:
            return
        read.check(harness)
        call = harness.call(msgspec.json.encode(body), stream=conversation.stream)
        actual = _further_facts(harness.client.read_request(call))
        usual = _further_facts(
            harness.read_request(msgspec.json.encode(harness.bodies["question"]))
        )
        plain, wanted = _further_facts(PLAIN), _further_facts(conversation)
        for fact, value in wanted.items():
            expected = usual[fact] if value == plain[fact] else value
            expect_equal(actual[fact], expected, f"{fact}:")

    return read_further


LAWS: tuple[Law, ...] = (
    known,
    routing,
    *(further_law(name, conversation) for name, conversation in FURTHER.items()),
    *(asked_law(name, conversation) for name, conversation in ASKED.items()),
)
