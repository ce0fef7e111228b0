"""Answers as a filter sees them, whole and streamed, cut at odd places."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Raw

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)

from .sample_calls import PRIVATE

USAGE = Usage(input_tokens=12, output_tokens=7)
CALL = ToolCall(id="call_a1", name="look_up", arguments='{"city":"Zürich","days":[1,2]}')
TEXTS = (
    "Grüße, 世界 🌍🏽!",
    "",
    "Write to ada.lovelace@example.org, or call +1 (202) 555-0143.",
    "The card is 4111 1111 1111 1111, the key sk-kit-0123456789abcdef0123456789abcdef.",
    "```python\nprint('{}')\n```",
)
"""What filters are known to look for, and what they are not."""
CUTS = (1, 2, 3, 7, 1000)
"""Characters in each piece of a text."""


def answer_texts(words: Iterable[str] = ()) -> Iterator[str]:
    """Ordinary texts, and one with each of these words."""
    yield from TEXTS
    for word in words:
        yield f"It begins, {word} stands in the middle, and {word}{word} ends it {word}"


def whole(text: str, *parts: ToolCall) -> Reply:
    choice = Choice(parts=(Text(text=text), *parts), finish="tool_calls" if parts else "stop")
    return Reply(id="r", model="large", choices=(choice,), usage=USAGE)


def streamed(text: str, cut: int, *parts: ToolCall) -> Iterator[list[StreamEvent]]:
    """The same as events, in the pieces in which they arrive."""
    yield [ReplyStarted("r", "large"), PartStarted(0, Text(text=""))]
    for begin in range(0, len(text), cut):
        yield [PartGrew(0, text[begin : begin + cut])]
    yield [PartEnded(0)]
    for index, part in enumerate(parts, 1):
        yield [PartStarted(index, ToolCall(id=part.id, name=part.name))]
        arguments = part.arguments
        for begin in range(0, len(arguments), cut):
            yield [PartGrew(index, arguments[begin : begin + cut])]
        yield [PartEnded(index)]
    yield [ChoiceEnded("tool_calls" if parts else "stop"), UsageReported(USAGE)]


CORES = ("Of the quokka", "Then the numbat", "Another of the dingo", "It ends with the bilby")
"""How the texts of a rich answer begin, two in each choice."""
SOURCE = Citation(url="https://kit.example/echidna", title="The echidna", start=0, end=6)


def rich_reply(words: str) -> Reply:
    """Two choices with everything that an answer may hold; each text ends with these words."""
    texts = [
        Text(text=f"{core} {words}".rstrip(), citations=(SOURCE,), extra={"x_kit": Raw(b"1")})
        for core in CORES
    ]
    thought = Reasoning(text="It thinks of the wallaby", signature="signed", origin="kit-vendor")
    choices = (
        Choice(parts=(thought, texts[0], CALL, texts[1]), finish="tool_calls"),
        Choice(parts=(texts[2], texts[3]), finish="length"),
    )
    return Reply(id="reply-koala", model="large-2026", choices=choices, usage=USAGE)


def streamed_choices(texts: Sequence[str], cut: int) -> Iterator[list[StreamEvent]]:
    """One text for each choice; their pieces come by turns."""
    choices = range(len(texts))
    yield [ReplyStarted("r", "large")]
    yield [PartStarted(0, Text(text=""), choice) for choice in choices]
    for begin in range(0, max(map(len, texts)), cut):
        for choice in choices:
            if piece := texts[choice][begin : begin + cut]:
                yield [PartGrew(0, piece, choice)]
    for choice in choices:
        yield [PartEnded(0, choice), ChoiceEnded("stop", choice)]
    yield [UsageReported(USAGE)]


def odd_replies() -> Iterator[tuple[str, Reply]]:
    yield "no choice", Reply(id="", model="", choices=())
    yield "an empty choice", Reply(id="", model="", choices=(Choice(),))
    parts = (
        Reasoning(text="Hm."),
        Refusal(text="I would rather not."),
        CALL,
        Reasoning(sealed="x"),
    )
    yield "parts of every kind", Reply(id="r", model="m", choices=(Choice(parts=parts),) * 2)


def odd_streams() -> Iterator[tuple[str, list[StreamEvent]]]:
    started, failed = ReplyStarted("r", "m"), ReplyFailed("overloaded")
    yield "nothing", []
    yield "a failure", [started, failed]
    yield "a failure in a text", [started, PartStarted(0, Text(text="")), PartGrew(0, "a"), failed]
    interleaved: list[StreamEvent] = [started]
    interleaved += [PartStarted(0, Text(text=""), choice) for choice in (0, 1)]
    interleaved += [PartGrew(0, letter, choice) for letter in "abc" for choice in (0, 1)]
    interleaved += [CitationAdded(0, Citation(url="https://kit.example"), 1)]
    interleaved += [PartEnded(0, choice) for choice in (1, 0)]
    interleaved += [ChoiceEnded("stop", choice) for choice in (0, 1)]
    yield "two choices at once", interleaved
    thinking: list[StreamEvent] = [PartStarted(0, Reasoning()), PartGrew(0, "Hm."), PartEnded(0)]
    yield "thinking alone", [started, *thinking, ChoiceEnded("length")]


def marked(number: int, words: Iterable[str]) -> str:
    """A text of its own, with these words."""
    return f"answer-{number:04d} {PRIVATE} {' '.join(words)}"


def text_of(events: Sequence[StreamEvent], index: int = 0, choice: int = 0) -> str:
    grown = (event for event in events if isinstance(event, PartGrew))
    return "".join(each.text for each in grown if (each.index, each.choice) == (index, choice))


def without_text(reply: Reply) -> bytes:
    """Everything of an answer but its text."""
    choices = [
        (choice.finish, [part for part in choice.parts if not isinstance(part, Text)])
        for choice in reply.choices
    ]
    return msgspec.json.encode(choices)
