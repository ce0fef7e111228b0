"""What is written is read back: requests, replies and streams in their normal form."""

from typing import Any

import msgspec
from gateway_format_openai import CHAT
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Call,
    Choice,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    Output,
    ProviderSpec,
    Reasoning,
    Refusal,
    Reply,
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
)
from gateway_formats.fold import gather, unfold

assert CHAT.client is not None
assert CHAT.vendor is not None
CLIENT, VENDOR = CHAT.client, CHAT.vendor

TARGET = Target(
    ProviderSpec(id="acme", name="Acme", options={"reasoning_content": True}),
    Model("m-1", reasoning=True),
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
    produced = draw(st.lists(plain, max_size=1))
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
    if not produced and not calls:
        produced = [draw(plain)]
    if calls and not thinking:
        thinking = [Reasoning(text=" ")]  # what a vendor that insists is sent
    turn = Turn("assistant", (*thinking, *produced, *calls), draw(maybe(names)), draw(extras))
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
        thinking=draw(
            maybe(st.sampled_from(["low", "xhigh"]).map(lambda w: Thinking(effort=w, show=True)))
        ),
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

    again = CLIENT.read_request(call_with(body, conversation.stream))
    # What is kept elsewhere is told a second time, by name.
    assert replace(again, elsewhere=()) == conversation
    assert not losses


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
