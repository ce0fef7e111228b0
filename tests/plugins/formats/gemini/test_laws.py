"""Laws: reading what was written changes nothing, and every stream is well formed."""

from typing import Any

import msgspec
from gateway_format_gemini import GEMINI
from gateway_format_gemini.grammar import GRAMMAR
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Call,
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    Output,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ProviderSpec,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Sampling,
    StreamEvent,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

CLIENT, VENDOR = GEMINI.client, GEMINI.vendor
TARGET = Target(ProviderSpec(id="google", name="Google"), Model("gemini-2.5-flash"))

WORDS = st.sampled_from(["a", "é", "\u2028", "b c", "\x85x", "日本", '"{', "\\", "\n"])
TEXT = st.lists(WORDS, min_size=1, max_size=4).map("".join)
NAMES = st.sampled_from(["f", "get_weather", "g.h-i"])
ARGS = st.dictionaries(WORDS, st.integers() | WORDS | st.none(), max_size=2).map(
    lambda value: msgspec.json.encode(value).decode()
)
SIGNATURE = st.none() | st.sampled_from(["c2ln", "QUJD"])
EXTRA = st.just({}) | st.just({"videoMetadata": Raw(b'{"fps":1}')})


def signed(part: Any, signature: str | None) -> Any:
    origin = "~gemini" if signature else ""
    return replace(part, signature=signature, origin=origin)


MEDIA = st.builds(
    lambda kind, data: Media(kind=kind[0], media_type=kind[1], data=data),
    st.sampled_from([("image", "image/png"), ("audio", "audio/wav"), ("document", "text/plain")]),
    st.sampled_from(["AAAA", "QUJD"]),
)
FOREIGN = st.sampled_from(["executableCode", "toolCall"]).map(
    lambda kind: Foreign(
        dialect="gemini", type=kind, raw=Raw(msgspec.json.encode({kind: {"id": "1"}}))
    )
)
SAID = st.builds(signed, TEXT.map(lambda text: Text(text=text)), SIGNATURE)
THOUGHT = st.builds(signed, TEXT.map(lambda text: Reasoning(text=text)), SIGNATURE)
CALLED = st.tuples(NAMES, ARGS, SIGNATURE)


def alternating(parts: list[Any]) -> list[Any]:
    """Normal form: no two pieces touch that a reader would take for one."""
    kept: list[Any] = []
    for part in parts:
        touches = kept and type(part) is type(kept[-1]) and isinstance(part, Text | Reasoning)
        if not (touches and kept[-1].signature is None):
            kept.append(part)
    return kept


@st.composite
def turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Turns by turns; every call is answered in the next one."""
    made: list[Turn] = []
    number = 0
    for _ in range(draw(st.integers(0, 2))):
        made.append(Turn("user", tuple(draw(st.lists(USER, min_size=1, max_size=3)))))
        parts = draw(st.lists(SAID | THOUGHT | FOREIGN | MEDIA | CALLED, min_size=1, max_size=4))
        answers: list[Any] = []
        for place, part in enumerate(parts):
            if isinstance(part, tuple):
                name, arguments, signature = part
                number += 1
                call = ToolCall(id=f"id{number}", name=name, arguments=arguments)
                parts[place] = signed(call, signature)
                answers.append(draw(results(f"id{number}", name)))
        made.append(Turn("assistant", tuple(alternating(parts))))
        if answers:
            more = draw(st.lists(USER, max_size=1))
            made += [Turn("user", (*answers, *more)), Turn("assistant", (Text(text="so"),))]
    return (*made, Turn("user", tuple(draw(st.lists(USER, min_size=1, max_size=2)))))


@st.composite
def results(draw: st.DrawFn, call_id: str, name: str) -> ToolResult:
    text = draw(TEXT | st.sampled_from(['{"a":1}', "[1,2]", '{"result":{"error":1}}']))
    return ToolResult(
        call_id=call_id, name=name, content=(Text(text=text),), failed=draw(st.booleans())
    )


USER: st.SearchStrategy[AnyPart] = (
    st.builds(lambda text, extra: Text(text=text, extra=extra), TEXT, EXTRA) | MEDIA
)
SCHEMA = st.sampled_from(
    [
        None,
        Raw(b'{"type":"object","properties":{"a":{"type":["string","null"]}}}'),
        Raw(b'{"type":"object","properties":{"a":{"const":1.5}},"$id":"x"}'),
    ]
)
TOOL = st.builds(
    lambda name, schema, description: Tool(name=name, schema=schema, description=description),
    NAMES,
    SCHEMA,
    st.none() | TEXT,
)
THINKING = st.sampled_from(
    [
        None,
        Thinking(enabled=True, budget=100),
        Thinking(enabled=False, budget=0, show=False),
        Thinking(show=True),
    ]
)
SAMPLING = st.builds(
    Sampling,
    max_tokens=st.none() | st.integers(1, 100),
    temperature=st.none() | st.just(0.5),
    top_k=st.none() | st.integers(1, 9),
    seed=st.none() | st.integers(0, 9),
    stop=st.just(()) | st.just(("x",)),
    candidates=st.none() | st.just(2),
    logprobs=st.none() | st.booleans(),
    top_logprobs=st.none() | st.integers(0, 5),
)
OUTPUT = st.sampled_from([None, Output(), Output(schema=Raw(b'{"type":"string"}'))])
KEPT = ("safetySettings", "generationConfig.speechConfig", "toolConfig.retrievalConfig")
LEFT = st.lists(st.sampled_from(KEPT)).map(lambda names: {name: Raw(b"{}") for name in names})


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    tools = draw(st.lists(TOOL, max_size=2))
    names = tuple(dict.fromkeys(tool.name for tool in tools))
    choices = [None, ToolChoice("auto"), ToolChoice("required"), ToolChoice("only", names)]
    return Conversation(
        instructions=tuple(draw(st.lists(TEXT.map(lambda text: Text(text=text)), max_size=2))),
        turns=draw(turns()),
        tools=tuple(tools),
        tool_choice=draw(st.sampled_from(choices)) if tools else None,
        sampling=draw(SAMPLING),
        thinking=draw(THINKING),
        output=draw(OUTPUT),
        service_tier=draw(st.none() | st.just("flex")),
        model="m",
        dialect="gemini",
        extra=draw(LEFT),
    )


@settings(max_examples=100)
@given(conversations())
def test_a_conversation_of_this_dialect_reads_as_it_was_written(received: Conversation) -> None:
    losses = Losses()

    body = VENDOR.write_request(received, TARGET, losses)

    call = Call(kind=Kind.LLM, format="gemini", model="m", stream=False, body=body)
    assert CLIENT.read_request(call) == received
    assert not losses


@given(conversations(), st.sampled_from(["openai", "claude"]), st.booleans())
def test_a_conversation_of_any_dialect_is_one_the_vendor_takes(
    received: Conversation, dialect: str, ids: bool
) -> None:
    spec = ProviderSpec(id="p", name="P", options={"call_ids": ids})
    target = Target(spec, Model("gemini-3-flash"))

    written = VENDOR.write_request(replace(received, dialect=dialect), target, Losses())

    body = msgspec.json.decode(written)
    roles = [content["role"] for content in body["contents"]]
    assert roles == [("user", "model")[place % 2] for place in range(len(roles))]
    calls = 0
    for content in body["contents"]:
        answers = sum("functionResponse" in part for part in content["parts"])
        assert answers == calls
        calls = sum("functionCall" in part for part in content["parts"])
        assert content["parts"]
        assert all(part.keys() - {"text"} or part["text"] for part in content["parts"])


OPENED = st.one_of(
    st.just(Text(text="")),
    st.builds(signed, st.just(Text(text="")), SIGNATURE),
    st.just(Refusal(text="")),
    st.just(Reasoning()),
    st.just(Reasoning(sealed="s", origin="o")),
    st.builds(lambda name: ToolCall(id="c", name=name), NAMES),
    st.builds(lambda name: ToolCall(id="c", name=name, custom=True), NAMES),
    MEDIA,
    FOREIGN,
    st.just(Foreign(dialect="x", type="y", raw=Raw(b"{}"))),
)
CITATION = st.builds(Citation, url=st.none() | st.just("https://a"), start=st.none() | st.just(1))
FINISH: Any = st.sampled_from(["stop", "length", "tool_calls", "content_filter", "pause", "error"])
USED = st.builds(
    lambda a, b: UsageReported(Usage(input_tokens=a, output_tokens=b)),
    st.integers(0, 9),
    st.integers(0, 9),
)
ENDS = st.sampled_from(
    [{}, {"promptFeedback": Raw(b'{"blockReason":"SAFETY"}')}, {"finishReason": Raw(b'"SPII"')}]
)


@st.composite
def event_lists(draw: st.DrawFn) -> list[StreamEvent]:
    """Any order of events that a reader may promise; parts may overlap."""
    events: list[StreamEvent] = [ReplyStarted("r", "m")]
    opened: dict[tuple[int, int], AnyPart] = {}
    counts: dict[int, int] = {}
    choices = draw(st.integers(1, 2))
    for step in draw(st.lists(st.sampled_from("sgggecup"), max_size=14)):
        choice = draw(st.integers(0, choices - 1))
        if step == "s":
            index = counts.get(choice, 0)
            counts[choice] = index + 1
            part = draw(OPENED)
            if isinstance(part, ToolCall):
                part = replace(part, id=f"c{choice}{index}")
            opened[choice, index] = part
            events.append(PartStarted(index, part, choice))
        elif step == "u":
            events.append(draw(USED))
        elif opened:
            events += draw(touched(opened, step))
    events += [PartEnded(index, choice) for choice, index in opened]
    events += [ChoiceEnded(draw(FINISH), each, extra=draw(ENDS)) for each in range(choices)]
    return events + draw(st.lists(USED, max_size=1))


@st.composite
def touched(draw: st.DrawFn, opened: dict[Any, AnyPart], step: str) -> list[StreamEvent]:
    choice, index = draw(st.sampled_from(sorted(opened)))
    part = opened[choice, index]
    if step == "e":
        del opened[choice, index]
        return [PartEnded(index, choice)]
    if step == "p":
        return [PartSealed(index, signature="c2ln", choice=choice, origin="google")]
    if step == "c" and isinstance(part, Text):
        return [CitationAdded(index, draw(CITATION), choice)]
    if step == "g" and not isinstance(part, Media | Foreign):
        return [PartGrew(index, draw(TEXT), choice)]
    return []


def batches(draw: Any, events: list[StreamEvent]) -> list[list[StreamEvent]]:
    cuts = sorted(draw(st.lists(st.integers(0, len(events)), max_size=5)))
    return [events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]


def written(pieces: list[list[StreamEvent]]) -> bytes:
    writer = CLIENT.stream_writer(Conversation(model="m"), Losses())
    return b"".join(map(writer.feed, pieces)) + writer.close()


def read(stream: bytes) -> Reply:
    reader = VENDOR.stream_reader()
    return gather([*reader.feed(stream), *reader.close()])


@settings(max_examples=100)
@given(st.data(), event_lists())
def test_any_events_make_a_well_formed_stream(data: Any, events: list[StreamEvent]) -> None:
    stream = written(batches(data.draw, events))

    assert find_violation(GRAMMAR, stream) is None
    assert read(stream) == read(written([[event] for event in events]))


@settings(max_examples=100)
@given(st.data(), event_lists())
def test_a_failure_at_any_point_is_the_end_of_a_well_formed_stream(
    data: Any, events: list[StreamEvent]
) -> None:
    place = data.draw(st.integers(0, len(events)))

    stream = written(batches(data.draw, [*events[:place], ReplyFailed("broken"), *events[place:]]))

    assert find_violation(GRAMMAR, stream) is None
    assert GRAMMAR.words(stream)[-1] == "error"


ANSWER = st.lists(
    SAID.map(lambda part: signed(part, None))
    | THOUGHT.map(lambda part: signed(part, None))
    | MEDIA
    | FOREIGN
    | st.builds(lambda name, args: ToolCall(id="c", name=name, arguments=args), NAMES, ARGS),
    max_size=5,
)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    choices = []
    for number in range(draw(st.integers(1, 2))):
        parts = alternating(draw(ANSWER))
        for place, part in enumerate(parts):
            if isinstance(part, ToolCall):
                parts[place] = replace(part, id=f"c{number}{place}")
        called = any(isinstance(part, ToolCall) for part in parts)
        finish = draw(st.sampled_from(["length", "error", "tool_calls" if called else "stop"]))
        choices.append(Choice(parts=tuple(parts), finish=finish))
    usage = draw(st.none() | st.just(Usage(input_tokens=5, output_tokens=4, reasoning_tokens=1)))
    return Reply(id="r", model="m", choices=tuple(choices), usage=usage)


def bare(reply: Reply) -> Reply:
    """Without the vendor's own words, which the writer adds, and with arguments spelled one way."""
    choices = []
    for choice in reply.choices:
        parts = (
            replace(
                part, arguments=msgspec.json.encode(msgspec.json.decode(part.arguments)).decode()
            )
            if isinstance(part, ToolCall)
            else part
            for part in choice.parts
        )
        choices.append(replace(choice, parts=tuple(parts), extra={}, failure=None))
    return replace(reply, dialect="", choices=tuple(choices))


@settings(max_examples=100)
@given(st.data(), replies())
def test_a_reply_reads_as_it_was_written(data: Any, reply: Reply) -> None:
    whole = CLIENT.write_reply(reply, Conversation(model="m"), Losses())
    stream = written(batches(data.draw, unfold(reply)))

    assert bare(VENDOR.read_reply(whole)) == reply
    assert bare(read(stream)) == reply


@settings(max_examples=100)
@given(st.data(), replies())
def test_however_a_stream_is_cut_the_events_are_the_same(data: Any, reply: Reply) -> None:
    stream = written([unfold(reply)])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader, other = VENDOR.stream_reader(), VENDOR.stream_reader()

    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    cut = [event for piece in pieces for event in reader.feed(piece)] + list(reader.close())

    assert cut == [*other.feed(stream), *other.close()]


@settings(max_examples=100)
@given(st.data(), replies())
def test_whatever_bytes_come_a_reader_fails_without_raising(data: Any, reply: Reply) -> None:
    stream = bytearray(written([unfold(reply)]))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    reader = VENDOR.stream_reader()

    events = [*reader.feed(bytes(stream)), *reader.close()]

    assert events == [] or isinstance(
        events[-1], ReplyFailed | ChoiceEnded | UsageReported | PartEnded
    )
