"""Laws that hold for anything: what is written is read back, and nothing makes it stumble."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from gateway_format_openai import CHAT, COMPLETIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    BadRequest,
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
    UpstreamError,
    Usage,
    UsageReported,
    WireFormat,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import violation

assert CHAT.client is not None
assert CHAT.vendor is not None
assert COMPLETIONS.client is not None
CLIENT, VENDOR, OLDER = CHAT.client, CHAT.vendor, COMPLETIONS.client

Disorder = Callable[[Iterable[StreamEvent]], str | None]
TARGET = Target(
    ProviderSpec(id="acme", name="Acme", options={"reasoning_content": True}), Model("m-1")
)
ODD = Target(
    ProviderSpec(
        id="odd",
        name="Odd",
        options={
            "reasoning": "openrouter",
            "reasoning_content": "reasoning_details",
            "cache_control": True,
            "images_in_tool_results": True,
            "documents": "file_or_url",
            "json_schema": False,
            "short_ids": True,
            "allowed_tools": True,
        },
    ),
    Model("google/m-2"),
)

words = st.text(min_size=1, max_size=8)
names = st.text("abcdefgh_", min_size=1, max_size=6)
ids = st.integers(0, 99).map(lambda n: f"call_{n}")
json = st.sampled_from(['{"a": 1.50}', '{"b":[1, 2]}', '{"type":"object"}', "{}"])
raws = json.map(lambda text: Raw(text.encode()))
extras = st.dictionaries(st.sampled_from(["x_a", "x_b"]), raws, max_size=2)
base64s = st.sampled_from(["AA==", "QUJD", "iVBORw0="])


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


texts = st.builds(Text, text=words, cache=maybe(st.sampled_from(["5m", "1h"])), extra=extras)
plain = st.builds(Text, text=words)
media = st.one_of(
    st.builds(
        Media,
        kind=st.just("image"),
        media_type=st.just("image/png"),
        data=base64s,
        detail=maybe(st.sampled_from(["low", "high"])),
        extra=extras,
    ),
    st.builds(Media, kind=st.just("image"), url=st.just("https://x/y")),
    st.builds(Media, kind=st.just("audio"), media_type=st.just("audio/mpeg"), data=base64s),
    st.builds(Media, kind=st.just("video"), url=st.just("https://x/y")),
    st.builds(
        Media,
        kind=st.just("document"),
        media_type=st.just("application/pdf"),
        data=base64s,
        name=words,
        cache=maybe(st.just("1h")),
    ),
    st.builds(
        Media, kind=st.just("document"), file_id=names, name=maybe(words), origin=st.just("~openai")
    ),
)
foreign = st.just(
    Foreign(dialect="openai", type="hologram", raw=Raw(b'{"type":"hologram","x":[1]}'))
)


@st.composite
def users(draw: st.DrawFn) -> Turn:
    """One plain text, or a list that is no plain text; see ``pieces.content``."""
    rich = st.tuples(media, *[texts | media | foreign] * draw(st.integers(0, 2)))
    parts = draw(plain.map(lambda part: (part,)) | rich)
    return Turn("user", parts, draw(maybe(names)), draw(extras))


@st.composite
def rounds(draw: st.DrawFn) -> list[Turn]:
    """An answer, and the results of its calls."""
    thinking = draw(st.lists(st.builds(Reasoning, text=words.filter(str.strip)), max_size=1))
    said = draw(st.lists(plain, max_size=1))
    call_ids = draw(st.lists(ids, unique=True, max_size=3))
    calls = [
        ToolCall(
            id=call_id,
            name=draw(names),
            arguments=draw(json),
            signature=signature,
            origin="~openai" if signature else "",
            custom=draw(st.booleans()),
            extra=draw(extras),
        )
        for call_id in call_ids
        for signature in [draw(maybe(names))]
    ]
    if not said and not calls:
        said = [draw(plain)]
    if calls and not thinking:
        thinking = [Reasoning(text=" ")]  # what a vendor that insists is sent
    turn = Turn("assistant", (*thinking, *said, *calls), draw(maybe(names)), draw(extras))
    results = tuple(
        ToolResult(
            call_id=call.id,
            name=draw(maybe(names)),
            content=draw(plain.map(lambda part: (part,))),
            custom=call.custom,
            extra=draw(extras),
        )
        for call in calls
    )
    return [turn, Turn("user", results)] if results else [turn]


systems = st.builds(Turn, st.just("system"), plain.map(lambda part: (part,)))


@st.composite
def dialogues(draw: st.DrawFn) -> tuple[Turn, ...]:
    turns = [draw(users())]
    for _ in range(draw(st.integers(0, 2))):
        turns += draw(rounds() | users().map(lambda turn: [turn]) | systems.map(lambda t: [t]))
    return tuple(turns)


functions = st.builds(
    Tool,
    name=names,
    description=maybe(words),
    schema=raws,
    strict=maybe(st.booleans()),
    cache=maybe(st.just("5m")),
    extra=extras,
)
others = st.sampled_from(
    [
        Tool(
            name="calc",
            custom=True,
            raw=Raw(b'{"type":"custom","custom":{"name":"calc"}}'),
            dialect="openai",
        ),
        Tool(name="magic", hosted="other", raw=Raw(b'{"type":"magic"}'), dialect="openai"),
    ]
)
floats = st.floats(0, 2, allow_nan=False)
samplings = st.builds(
    Sampling,
    max_tokens=maybe(st.integers(1, 9)),
    temperature=maybe(floats),
    top_p=maybe(floats),
    top_k=maybe(st.integers(1, 9)),
    min_p=maybe(floats),
    seed=maybe(st.integers(0, 1 << 70)),
    stop=st.lists(words, max_size=6).map(tuple),
    presence_penalty=maybe(floats),
    frequency_penalty=maybe(floats),
    candidates=maybe(st.integers(1, 3)),
    logprobs=maybe(st.booleans()),
    top_logprobs=maybe(st.integers(0, 5)),
)
outputs = st.just(Output()) | st.builds(
    Output, schema=raws, name=names, description=maybe(words), strict=maybe(st.booleans())
)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """This dialect's normal form: what a request can say, in the one way it is read."""
    tools = tuple(draw(st.lists(functions | others, max_size=3, unique_by=lambda t: t.name)))
    choices = [ToolChoice("auto"), ToolChoice("none"), ToolChoice("required")]
    choices += [ToolChoice("only", (tool.name,)) for tool in tools if tool.hosted is None]
    choices += [ToolChoice("auto", tuple(t.name for t in tools if t.hosted is None))] * 2
    stream = draw(st.booleans())
    return Conversation(
        instructions=draw(st.lists(plain, max_size=1).map(tuple)),
        turns=draw(dialogues()),
        tools=tools,
        tool_choice=draw(maybe(st.sampled_from(choices))) if tools else None,
        parallel_tools=draw(maybe(st.booleans())) if tools else None,
        sampling=draw(samplings),
        thinking=draw(maybe(st.sampled_from(["low", "xhigh"]).map(lambda w: Thinking(effort=w)))),
        output=draw(maybe(outputs)),
        user=draw(maybe(words)),
        cache_key=draw(maybe(words)),
        service_tier=draw(maybe(names)),
        stream=stream,
        stream_usage=stream,
        model="m-1",
        dialect="openai",
        extra=draw(extras),
    )


def call_with(body: bytes, stream: bool = False) -> Call:
    return Call(kind=Kind.LLM, format="openai", model="", stream=stream, body=body)


@given(conversations())
def test_what_is_written_is_read_back(conversation: Conversation) -> None:
    losses = Losses()

    body = VENDOR.write_request(conversation, TARGET, losses)

    assert CLIENT.read_request(call_with(body, conversation.stream)) == conversation
    assert not losses


blanks = st.text(max_size=4)
citations = st.builds(Citation, url=st.just("https://x"), title=maybe(words), quote=maybe(words))
spoken = st.builds(Text, text=words, citations=st.lists(citations, max_size=2).map(tuple))
calls = st.builds(ToolCall, id=ids, name=names, arguments=json, custom=st.booleans())
usages = st.builds(
    Usage,
    input_tokens=st.integers(9, 20),
    output_tokens=st.integers(9, 20),
    cached_tokens=st.integers(0, 4),
    cache_write_tokens=st.integers(0, 4),
    reasoning_tokens=st.integers(0, 9),
)
logprobs = st.just(Raw(b'{"content":[{"token":"a","logprob":-1.5,"top_logprobs":[]}]}'))


@st.composite
def answers(draw: st.DrawFn) -> Choice:
    """A choice in the normal form: thinking, text, refusal, and calls, each where it stands."""
    parts: list[Any] = [
        *draw(st.lists(st.builds(Reasoning, text=words), max_size=1)),
        *draw(st.lists(st.builds(Text, text=words), max_size=1)),
        *draw(st.lists(st.builds(Refusal, text=words), max_size=1)),
    ]
    own = draw(st.lists(calls, max_size=3, unique_by=lambda call: call.id))
    only_refusal = len(parts) == 1 and isinstance(parts[0], Refusal) and not own
    natural = "tool_calls" if own else ("refusal" if only_refusal else "stop")
    return Choice(
        parts=(*parts, *own),
        finish=draw(st.sampled_from([natural, "length", "content_filter"])),
        logprobs=draw(maybe(logprobs)) if parts else None,
    )


replies = st.builds(
    Reply,
    id=names.map(lambda name: f"chatcmpl-{name}"),
    model=words,
    created=maybe(st.integers(1, 1 << 40)),
    choices=st.lists(answers(), min_size=1, max_size=3).map(tuple),
    usage=maybe(usages),
)


def same(reply: Reply) -> Reply:
    """Log probabilities as values, since only their meaning has to stay."""
    choices = tuple(
        msgspec.structs.replace(
            choice,
            logprobs=None
            if choice.logprobs is None
            else Raw(msgspec.json.encode(msgspec.json.decode(choice.logprobs))),
        )
        for choice in reply.choices
    )
    return msgspec.structs.replace(reply, choices=choices, dialect="")


def read(data: bytes) -> list[StreamEvent]:
    reader = VENDOR.stream_reader()
    return [*reader.feed(data), *reader.close()]


@given(replies)
def test_a_reply_written_whole_is_read_back(reply: Reply) -> None:
    losses = Losses()

    written = CLIENT.write_reply(reply, Conversation(), losses)

    assert same(VENDOR.read_reply(written)) == same(reply)
    assert not losses


@given(replies)
def test_a_reply_written_as_a_stream_is_read_back(reply: Reply) -> None:
    losses = Losses()
    writer = CLIENT.stream_writer(Conversation(), losses)

    written = writer.feed(unfold(reply)) + writer.close()

    assert same(gather(read(written))) == same(reply)
    assert not losses


anything = st.one_of(
    st.builds(Text, text=blanks, citations=st.lists(citations, max_size=1).map(tuple)),
    st.builds(Refusal, text=blanks),
    st.builds(Reasoning, text=blanks, sealed=maybe(names), origin=names, extra=extras),
    st.builds(
        ToolCall,
        id=ids,
        name=names,
        arguments=st.sampled_from(["", "{}", "{"]),
        custom=st.booleans(),
        signature=maybe(names),
        origin=names,
    ),
    media,
    st.builds(Foreign, dialect=names, type=names, raw=raws),
)
grown = (Text, Refusal, Reasoning, ToolCall)


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """Any events in the promised order, parts of several choices by turns."""
    queues = [draw(part_events(choice)) for choice in range(draw(st.integers(1, 3)))]
    events: list[StreamEvent] = [ReplyStarted(draw(blanks), draw(blanks), draw(maybe(st.just(7))))]
    while any(queues):
        if draw(st.booleans()):
            events.append(UsageReported(draw(usages)))
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        events.append(queue.pop(0))
    return events


@st.composite
def part_events(draw: st.DrawFn, choice: int) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    held: list[StreamEvent] = []
    for index in range(draw(st.integers(0, 3))):
        part = draw(anything)
        events.append(PartStarted(index, part, choice))
        if isinstance(part, grown):
            for text in draw(st.lists(blanks, max_size=2)):
                events.append(PartGrew(index, text, choice, draw(maybe(logprobs))))
        if isinstance(part, Text):
            events += (
                CitationAdded(index, c, choice) for c in draw(st.lists(citations, max_size=1))
            )
        if draw(st.booleans()):
            events.append(PartSealed(index, draw(maybe(names)), draw(maybe(names)), choice, "o"))
        (held if draw(st.booleans()) else events).append(PartEnded(index, choice))
    finish = draw(st.sampled_from(["stop", "length", "tool_calls", "refusal", "pause", "error"]))
    return [*events, *held, ChoiceEnded(finish, choice)]


askeds = st.sampled_from(
    [
        Conversation(),
        Conversation(stream_usage=False, thinking=Thinking(show=False)),
        Conversation(tools=(Tool(name="a", dialect="openai-functions"),)),
        Conversation(tools=tuple(Tool(name=n, custom=True) for n in "abcdefgh")),
    ]
)


def written_by(
    wire: WireFormat, asked: Conversation, batches: Iterable[list[StreamEvent]]
) -> bytes:
    assert wire.client is not None
    writer = wire.client.stream_writer(asked, Losses())
    return b"".join(writer.feed(batch) for batch in batches) + writer.close()


@given(streams(), askeds, st.data())
def test_any_stream_is_well_formed_however_it_is_batched(
    disorder: Disorder, events: list[StreamEvent], asked: Conversation, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    assert disorder(events) is None

    for wire in (CHAT, COMPLETIONS):
        assert wire.grammar is not None
        whole = written_by(wire, asked, [events])
        assert violation(wire.grammar, whole) is None
        assert written_by(wire, asked, [events[:cut], events[cut:]]) == whole
        assert written_by(wire, asked, [[event] for event in events]) == whole


@given(streams(), askeds)
@settings(max_examples=50)
def test_what_any_stream_is_written_as_can_be_read(
    disorder: Disorder, events: list[StreamEvent], asked: Conversation
) -> None:
    again = read(written_by(CHAT, asked, [events]))

    assert disorder(again) is None


@given(streams(), askeds)
@settings(max_examples=50)
def test_a_failure_at_any_point_leaves_a_well_formed_stream(
    events: list[StreamEvent], asked: Conversation
) -> None:
    for end in range(len(events)):
        broken = [*events[:end], ReplyFailed("bad", status=429)]
        for wire in (CHAT, COMPLETIONS):
            assert wire.grammar is not None
            written = written_by(wire, asked, [broken])
            assert violation(wire.grammar, written) is None
            assert written.endswith(b'"code":"rate_limit_exceeded"}}\n\n')


KEYS = [
    "messages",
    "input",
    "role",
    "content",
    "type",
    "text",
    "image_url",
    "url",
    "detail",
    "input_audio",
    "data",
    "format",
    "file",
    "file_id",
    "file_data",
    "filename",
    "video_url",
    "document_url",
    "thinking",
    "signature",
    "refusal",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "custom",
    "input",
    "tool_call_id",
    "function_call",
    "audio",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "summary",
    "tools",
    "parameters",
    "strict",
    "tool_choice",
    "allowed_tools",
    "mode",
    "functions",
    "cache_control",
    "ttl",
    "stop",
    "stream_options",
    "include_usage",
    "response_format",
    "json_schema",
    "schema",
    "reasoning_effort",
    "effort",
    "max_tokens",
    "budget_tokens",
    "enabled",
    "extra_content",
    "google",
    "thought_signature",
    "web_search_options",
    "temperature",
    "n",
    "logprobs",
    "index",
    "choices",
    "delta",
    "message",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "error",
    "code",
    "annotations",
    "url_citation",
    "start_index",
    "images",
    "model",
    "created",
    "citations",
    "search_results",
    "x_groq",
    "stop_reason",
    "prompt",
    "metadata",
    "raw",
    "headers",
    "details",
    "retryDelay",
    "detail",
    "msg",
]
WORDS = [
    "user",
    "assistant",
    "system",
    "tool",
    "function",
    "developer",
    "text",
    "image_url",
    "custom",
    "allowed_tools",
    "auto",
    "reasoning.text",
    "reasoning.encrypted",
    "thinking",
    "json_schema",
    "data:image/png;base64,AA==",
    "stop",
    "url_citation",
    "required",
    "message",
]
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | blanks
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(WORDS[:6])},
    optional={key: values for key in KEYS if key not in ("role", "messages")},
)
bodies = values | st.fixed_dictionaries(
    {"messages": st.lists(messages, min_size=1, max_size=3)},
    optional={key: values for key in KEYS if key != "messages"},
)


@given(bodies)
@settings(max_examples=400)
def test_no_body_makes_reading_or_writing_stumble(body: Any) -> None:
    raw = msgspec.json.encode(body)
    for side in (CLIENT, OLDER):
        try:
            conversation = side.read_request(call_with(raw))
        except BadRequest as error:
            assert error.message
            continue
        for target in (TARGET, ODD):
            try:
                VENDOR.write_request(conversation, target, Losses())
            except BadRequest as error:
                assert error.message


@given(
    st.lists(values | st.fixed_dictionaries({"choices": st.lists(values, max_size=2)}), max_size=4)
)
@settings(max_examples=300)
def test_no_frame_makes_a_reader_stumble(disorder: Disorder, rows: list[Any]) -> None:
    frames = b"".join(b"data: %b\n\n" % msgspec.json.encode(row) for row in rows)
    relay = VENDOR.relay(call_with(b"{}", True), TARGET, {})

    events = read(frames + b"data: [DONE]\n\n")
    passed = relay.feed(frames) + relay.close()

    assert disorder(events) is None
    assert CHAT.grammar is not None
    assert violation(CHAT.grammar, passed) is None


@given(values)
@settings(max_examples=300)
def test_no_answer_makes_a_reader_stumble(body: Any) -> None:
    raw = msgspec.json.encode(body)
    relay = VENDOR.relay(call_with(b"{}"), TARGET, {})

    try:
        VENDOR.read_reply(raw)
    except UpstreamError as error:
        assert error.message
    assert relay.feed(raw) + relay.close() in (b"", raw)
    assert VENDOR.read_error(500, {}, raw).message


@given(st.binary(max_size=60))
def test_no_bytes_make_a_reader_stumble(data: bytes) -> None:
    events = read(data)

    assert isinstance(events[-1], ReplyFailed)
    assert VENDOR.read_error(500, {}, data).message
