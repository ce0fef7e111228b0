"""Hypothesis strategies for conversations, replies and streams, in terms every dialect can say."""

from collections.abc import Sequence

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Choice,
    ChoiceEnded,
    Conversation,
    Finish,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyStarted,
    Sampling,
    StreamEvent,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    UsageReported,
)
from gateway_formats.fold import unfold

from . import sample_values

ALPHABET = 'abc {}[]"\\\n:,é日🦓\u2028'
"""Letters of one to four bytes, and what JSON and frames are made of."""

words = st.text(ALPHABET, max_size=12)
spoken_text = st.text(ALPHABET, min_size=1, max_size=12).filter(str.strip)
texts = st.builds(Text, text=spoken_text)
objects = st.dictionaries(
    st.sampled_from(["city", "when", "größe"]),
    st.none() | st.booleans() | st.integers(-9, 9) | words | st.lists(words, max_size=2),
    max_size=3,
)
arguments = objects.map(lambda value: msgspec.json.encode(value).decode())
usages = st.builds(Usage, input_tokens=st.integers(1, 10**6), output_tokens=st.integers(1, 10**6))
samplings = st.builds(
    Sampling,
    max_tokens=st.integers(100, 5000),
    temperature=st.sampled_from([None, 0.0, 0.5, 1.0]),
)


def calls(numbers: Sequence[int]) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    """Calls of one tool, one for each number, each with an id of its own."""
    return st.tuples(
        *(
            st.builds(
                ToolCall, id=st.just(f"call_{n:05}"), name=st.just("look"), arguments=arguments
            )
            for n in numbers
        )
    )


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[Turn]:
    """An answer, the results of its calls where it has any, and the next question."""
    tool_calls = draw(calls(range(number * 10, number * 10 + draw(st.integers(0, 2)))))
    texts_of_turn = draw(st.lists(texts, min_size=0 if tool_calls else 1, max_size=1))
    results = tuple(sample_values.tool_result(call, draw(spoken_text)) for call in tool_calls)
    answers = [Turn("user", results)] if results else []
    return [
        Turn("assistant", (*texts_of_turn, *tool_calls)),
        *(answers or [sample_values.user_turn(draw(texts))]),
    ]


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """What every dialect with tools can say: nothing in it may be lost."""
    turns = [sample_values.user_turn(draw(texts))]
    for number in range(draw(st.integers(0, 2))):
        turns += draw(rounds(number))
    return Conversation(
        instructions=tuple(draw(st.lists(texts, max_size=1))),
        turns=tuple(turns),
        tools=(sample_values.LOOK,),
        sampling=draw(samplings),
        stream=draw(st.booleans()),
    )


strange_parts: st.SearchStrategy[AnyPart] = st.one_of(
    st.builds(Text, text=words, cache=st.sampled_from([None, "5m"])),
    st.builds(Refusal, text=words),
    st.builds(Reasoning, text=words, signature=st.none() | words, origin=st.just("stranger")),
    st.builds(Reasoning, sealed=words, origin=st.just("stranger")),
    st.just(sample_values.IMAGE),
    st.just(Media(kind="image", url="https://pictures.example/cat.png")),
    st.just(Media(kind="audio", media_type="audio/wav", data="AAAA")),
    st.just(Media(kind="document", text="Milk", name="list")),
    st.just(Media(kind="document", file_id="file-1", origin="stranger")),
    st.builds(ToolCall, id=words, name=spoken_text, arguments=words, custom=st.booleans()),
    st.builds(ToolResult, call_id=words, content=st.lists(texts, max_size=2).map(tuple)),
    st.just(Foreign(dialect="stranger", type="server_tool", raw=msgspec.Raw(b"{}"))),
)
strange_conversations = st.builds(
    Conversation,
    instructions=st.lists(st.builds(Text, text=words), max_size=2).map(tuple),
    turns=st.lists(
        st.builds(
            Turn,
            st.sampled_from(["user", "assistant", "system"]),
            st.lists(strange_parts, max_size=4).map(tuple),
        ),
        max_size=5,
    ).map(tuple),
    dialect=st.just("stranger"),
)
"""Anything at all: orphaned results, empty turns, parts of other dialects."""


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """What every dialect with tools can say, in its usual order."""
    thoughts = draw(st.lists(st.builds(Reasoning, text=spoken_text), max_size=1))
    tool_calls = draw(calls(range(draw(st.integers(0, 3)))))
    texts_of_turn = draw(st.lists(texts, min_size=0 if tool_calls else 1, max_size=1))
    finish: Finish = "tool_calls" if tool_calls else draw(st.sampled_from(["stop", "length"]))
    choice = Choice(parts=(*thoughts, *texts_of_turn, *tool_calls), finish=finish)
    return replace(sample_values.build_reply(), choices=(choice,), usage=draw(usages))


def pieces(text: str, sizes: Sequence[int]) -> list[str]:
    """The text in pieces, some of them empty."""
    cut_pieces, place = [], 0
    for size in sizes:
        cut_pieces.append(text[place : place + size])
        place += size
    return [*cut_pieces, text[place:]]


@st.composite
def streams(draw: st.DrawFn) -> list[StreamEvent]:
    """Events of one reply whose parts overlap and grow in pieces; usage is repeated or missing."""
    reply = draw(replies())
    lives: list[list[StreamEvent]] = []
    for index, part in enumerate(reply.choices[0].parts):
        first, *rest = unfold(replace(reply, choices=(Choice(parts=(part,)),), usage=None))[1:-2]
        text = "".join(event.text for event in rest if isinstance(event, PartGrew))
        assert isinstance(first, PartStarted)
        sizes = draw(st.lists(st.integers(0, 4), max_size=3))
        grown = [PartGrew(index, piece) for piece in pieces(text, sizes)]
        lives.append([PartStarted(index, first.part), *grown, PartEnded(index)])
    order = draw(st.permutations([place for place, life in enumerate(lives) for _ in life]))
    events: list[StreamEvent] = [ReplyStarted(reply.id, reply.model, reply.created)]
    # Parts start and end in the order of their indices, and grow by turns.
    left = [iter(life[1:-1]) for life in lives]
    pieces_added = (next(left[place], None) for place in order)
    events += [life[0] for life in lives]
    events += [event for event in pieces_added if event is not None]
    events += [life[-1] for life in lives]
    events += [UsageReported(usage) for usage in draw(st.lists(usages, max_size=2))]
    return [*events, ChoiceEnded(reply.choices[0].finish)]


def cuts(most: int = 6) -> st.SearchStrategy[list[int]]:
    """Places to cut a stream at, counted around its length."""
    return st.lists(st.integers(0, 1 << 16), max_size=most)


def places_in(cut_pieces: Sequence[bytes]) -> st.SearchStrategy[int]:
    """An index into them: a recording itself is too long to be shown."""
    return st.integers(0, len(cut_pieces) - 1)


rubbish = st.one_of(
    st.lists(st.integers(0, 255), max_size=60).map(bytes),
    st.sampled_from(
        [
            *(
                b"",
                b"[]",
                b"{",
                b"null",
                b"\xff",
                b'"a"',
                b"[" * 5000,
                b"{}",
                b"data: {\n\n",
                b": x\n\n",
            ),
            *(b'{"error":[]}', b'{"error":{"message":7}}', b'data: {"choices":{}}\n\n'),
            *(b"event: x\ndata: null\n\n", b'{"choices":[null]}', b"<html>no</html>", b"\r\r\n\n"),
        ]
    ),
)
