"""Laws of what clients are shown: each thing that an answer says carries a mark, and the client
gets it, whole and streamed, or the losses name it.

A client's answer need not be readable back, so these laws hold for one-sided formats too.
"""

import re
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Finish,
    Losses,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_formats.fold import unfold

from . import sample_values
from .case import Law, expect, has_client, law
from .harness import FormatHarness
from .marks import scalars
from .sample_values import FIRST, IMAGE, SECOND, TEXT, build_reply

ADDRESS = "https://sources.example/page?mark=4711"
FINISHES: tuple[Finish, ...] = ("stop", "length", "content_filter")
ALL_FINISHES: tuple[Finish, ...] = (*FINISHES, "tool_calls", "refusal", "pause", "error")
PIECES = ("Once", " upon", " ", "a 🦓", "\n\n", "  time", ".")
"""Pieces that begin with a space, hold only white space or a letter of four bytes."""
USAGE = Usage(input_tokens=90017, output_tokens=8023, cached_tokens=3037, reasoning_tokens=4049)


class Shown(Struct, frozen=True):
    """One thing that an answer may say."""

    reply: Reply
    marks: tuple[str, ...]
    """What the client has to see."""


def _cited() -> Reply:
    return build_reply(replace(TEXT, citations=(Citation(url=ADDRESS, start=0, end=5),)))


def _with_choice(choice: Choice) -> Reply:
    return replace(build_reply(), choices=(choice,))


_LOGPROBS = Raw(b'{"content":[{"token":"tok4711","logprob":-0.5,"bytes":null,"top_logprobs":[]}]}')
SHOWN: dict[str, Shown] = {
    "text": Shown(build_reply(Text(text=" zebra4711\n")), (" zebra4711\n",)),
    "two texts": Shown(
        build_reply(Text(text="one4711"), FIRST, Text(text="two4712"), finish="tool_calls"),
        ("one4711", "two4712"),
    ),
    "thinking": Shown(build_reply(Reasoning(text="ponder4711"), TEXT), ("ponder4711",)),
    "refusal": Shown(build_reply(Refusal(text="never4711"), finish="refusal"), ("never4711",)),
    "calls": Shown(
        build_reply(FIRST, SECOND, finish="tool_calls"), ("look", "first4711", "second4711")
    ),
    "image": Shown(build_reply(TEXT, IMAGE), (str(IMAGE.data),)),
    "citation": Shown(_cited(), (ADDRESS,)),
    "log probabilities": Shown(
        _with_choice(Choice(parts=(TEXT,), logprobs=_LOGPROBS)), ("tok4711",)
    ),
    "second answer": Shown(
        replace(
            build_reply(),
            choices=(Choice(parts=(TEXT,)), Choice(parts=(Text(text="other4711"),))),
        ),
        ("other4711",),
    ),
    "model": Shown(build_reply(TEXT), ("kit-model",)),
}


def _whole(harness: FormatHarness, reply: Reply) -> tuple[bytes, Losses]:
    return harness.write_reply(reply)


def _streamed(harness: FormatHarness, reply: Reply) -> tuple[bytes, Losses]:
    return harness.write_stream([[event] for event in _events(reply)])


def _events(reply: Reply) -> list[StreamEvent]:
    """The reply as events, with what ``unfold`` leaves to other events."""
    events: list[StreamEvent] = []
    for event in unfold(reply):
        events.append(event)
        if isinstance(event, PartStarted) and isinstance(event.part, Text):
            known = event.part.citations
            cited = reply.choices[event.choice].parts[event.index]
            if not known and isinstance(cited, Text):
                events += [CitationAdded(event.index, each) for each in cited.citations]
    return events


Way = Callable[[FormatHarness, Reply], tuple[bytes, Losses]]
WAYS: dict[str, Way] = {"whole": _whole, "streamed": _streamed}


def texts_of(harness: FormatHarness, body: bytes) -> list[str]:
    """Every text and number of an answer's JSON, of all frames of a stream; the body itself where
    it is something else."""
    found: list[str] = []
    for row in rows_of(body):
        found += map(str, scalars(row))
    return found or [body.decode("utf-8", "replace")]


def rows_of(body: bytes) -> list[object]:
    """The JSON of a whole answer, of the frames of an event stream or of lines."""
    try:
        return [msgspec.json.decode(body)]
    except msgspec.DecodeError:
        pass
    rows: list[object] = []
    for line in re.split(rb"[\r\n]+", body):
        text = line.removeprefix(b"data:").strip()
        if text.startswith((b"{", b"[")):
            try:
                rows.append(msgspec.json.decode(text))
            except msgspec.DecodeError:
                continue
    return rows


def shown_law(name: str, shown: Shown, way: str) -> Law:
    @law(
        f"replies/shows: {name} {way}",
        f"what a vendor says does not reach the client as it was said: {name}, {way}",
        "write it as your clients read it, or name it in losses",
        has_client,
    )
    def kept(harness: FormatHarness) -> None:
        body, losses = WAYS[way](harness, shown.reply)
        if losses:
            return
        texts = texts_of(harness, body)
        missing = [mark for mark in shown.marks if not any(mark in each for each in texts)]
        expect(not missing, f"missing: {missing}", body)

    return kept


@law(
    "replies/finishes",
    "two reasons to end look alike, or one of them raises",
    "give each Finish a word: at least stop, length and content_filter differ",
    has_client,
)
def finishes(harness: FormatHarness) -> None:
    for way in WAYS.values():
        written: dict[bytes, Finish] = {}
        for finish in ALL_FINISHES:
            body, losses = way(harness, build_reply(TEXT, finish=finish))
            body = re.sub(rb"\d{6,}", b"0", body)
            if finish not in FINISHES or losses:
                continue
            expect(body not in written, f"{finish} is written as {written.get(body)}", body)
            written[body] = finish


@law(
    "replies/ids",
    "answers or calls have no id of their own",
    "write the answer's id and each call's own, whole and streamed, at every place alike",
    has_client,
)
def ids(harness: FormatHarness) -> None:
    whole = _ids(_whole(harness, build_reply(TEXT))[0])
    for way in WAYS.values():
        first = way(harness, replace(build_reply(TEXT), id="answer-4711"))[0]
        second = way(harness, replace(build_reply(TEXT), id="answer-4712"))[0]
        expect(not _ids(first) or _ids(first) != _ids(second), "two answers:", first)
        expect(not (whole and way is _streamed) or bool(_ids(first)), "no id:", first)
        expect("" not in _ids(first), "an empty id:", first)
        calls = (FIRST, replace(SECOND, name="find"))
        body = way(harness, build_reply(*calls, finish="tool_calls"))[0]
        texts = texts_of(harness, body)
        is_there = [any(call.id in each for each in texts) for call in calls]
        expect(all(is_there) or not any(is_there), "ids of calls:", body)
        if way is _whole and not any(is_there):
            expect(not _has_call_ids(body), "calls have another's id:", body)


def _ids(body: bytes) -> set[object]:
    return {row["id"] for row in _flat(rows_of(body)) if "id" in row and "name" not in row}


def _has_call_ids(body: bytes) -> bool:
    """Whether both calls have a text that is called their id, and the same one."""
    found = re.findall(rb'"(?:call_|tool_call_|tool_use_)?id":\s*"([^"]+)"', body)
    return len(found) > 1 and len(set(found)) < len(found)


@law(
    "replies/usage-shown",
    "tokens are shown wrong, whole or streamed",
    "write input and output where clients look, cached and reasoning tokens as parts of them",
    has_client,
)
def usage_shown(harness: FormatHarness) -> None:
    for name, way in WAYS.items():
        body, _ = way(harness, replace(build_reply(TEXT), usage=USAGE))
        swapped, _ = way(
            harness,
            replace(
                build_reply(TEXT),
                usage=replace(
                    USAGE,
                    input_tokens=8023,
                    output_tokens=90017,
                    cached_tokens=37,
                    reasoning_tokens=49,
                ),
            ),
        )
        places, turned = _places(body), _places(swapped)
        fresh = 90017 - 3037
        expect(places.get(8023) is not None or places.get(8023 - 4049) is not None, name, body)
        expect(places.get(90017) is not None or places.get(fresh) is not None, name, body)
        for mark in (3037, 4049):
            other = way(
                harness,
                replace(
                    build_reply(TEXT),
                    usage=replace(
                        USAGE,
                        cached_tokens=3036 if mark == 3037 else 3037,
                        reasoning_tokens=4048 if mark == 4049 else 4049,
                    ),
                ),
            )[0]
            named = _named_counts(body, "cach" if mark == 3037 else "reason|thought|think")
            expect(not named or _plain(body) != _plain(other), f"{mark} is not shown", body)
        for names in (places.get(90017, ()), places.get(8023, ())):
            expect(not (names and names == turned.get(90017) == turned.get(8023)), name, body)
        wrong = [each for each in places.get(90017, ()) if _OUTPUT.search(each)]
        wrong += [each for each in places.get(8023, ()) if _INPUT.search(each)]
        expect(not wrong, f"tokens of prompt and answer are exchanged: {wrong}", body)


_INPUT = re.compile(r"(?i)prompt|input")
_OUTPUT = re.compile(r"(?i)output|completion|answer|candidates|^eval|generat")


def _plain(body: bytes) -> object:
    return rows_of(body)


def _named_counts(body: bytes, pattern: str) -> list[str]:
    """Members that seem to hold such a count."""
    return [
        each for names in _places(body).values() for each in names if re.search(pattern, each, re.I)
    ]


def _places(body: bytes) -> dict[int, tuple[str, ...]]:
    """Each number of an answer, with the names of the members that hold it."""
    places: dict[int, tuple[str, ...]] = {}

    def walk(value: object, name: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, str(key))
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)
        elif isinstance(value, int) and not isinstance(value, bool):
            places[value] = (*places.get(value, ()), name)

    for row in rows_of(body):
        walk(row, "")
    return places


@law(
    "streams/pieces",
    "a piece of text is changed, held back or lost",
    "write each piece as it comes, with its white space, in the call that brought it",
    has_client,
)
def pieces(harness: FormatHarness) -> None:
    writer = harness.client.stream_writer(harness.request, Losses())
    writer.feed([ReplyStarted("r4711", "kit-model")])
    writer.feed([PartStarted(0, Text(text=""))])
    for piece in PIECES:
        written = writer.feed([PartGrew(0, piece)])
        texts = texts_of(harness, written) if written else []
        expect(any(piece in each for each in texts), f"the piece {piece!r}:", written)


@law(
    "streams/arguments",
    "the arguments of a streamed call are changed, lost or belong to another call",
    "write each call with its name, its id and all of its arguments",
    has_client,
)
def arguments(harness: FormatHarness) -> None:
    started: list[StreamEvent] = [ReplyStarted("r4711", "kit-model")]
    calls = (FIRST, SECOND)
    for index, call in enumerate(calls):
        started.append(PartStarted(index, ToolCall(id=call.id, name=call.name)))
        text = call.arguments
        started += [PartGrew(index, text[:6]), PartGrew(index, text[6:]), PartEnded(index)]
    ended: Sequence[StreamEvent] = (UsageReported(USAGE), ChoiceEnded("tool_calls"))
    body, losses = harness.write_stream([[event] for event in (*started, *ended)])
    joined = re.sub(r"[\\\s\"]", "", "".join(texts_of(harness, body)))
    for word in ("first4711", "second4711"):
        alone = re.sub(r"\W", "", word)
        expect(bool(losses) or _in_order(alone, joined), word, body)
    expect(bool(losses) or joined.count("look") >= len(calls), "names of calls:", body)
    held = [
        row
        for row in _flat(rows_of(body))
        if any(isinstance(row.get(key), str) and '{"city' in str(row.get(key)) for key in row)
    ]
    loose = [row for row in held if "id" in row and not row["id"]]
    expect(not loose, "arguments without their call's id:", body)


def _flat(value: object) -> list[dict[str, object]]:
    """Every object, at any depth."""
    if isinstance(value, dict):
        return [value, *(row for inner in value.values() for row in _flat(inner))]
    if isinstance(value, list):
        return [row for inner in value for row in _flat(inner)]
    return []


def _in_order(word: str, text: str) -> bool:
    """Whether the word is there, perhaps with names of members between two of its letters."""
    if word in text:
        return True
    return all(part in text for part in (word[:3], word[-4:]))


@law(
    "streams/separate",
    "what one stream says is in another one",
    "make a new writer for each answer, with no state outside it",
    has_client,
)
def separate(harness: FormatHarness) -> None:
    def write(text: str, usage: Usage | None) -> bytes:
        reply = replace(build_reply(Text(text=text)), usage=usage)
        return harness.write_stream([unfold(reply)])[0]

    alone = _places(write("two4712", None))
    writer = harness.client.stream_writer(harness.request, Losses())
    writer.feed(unfold(replace(build_reply(Text(text="one4711")), usage=USAGE))[:-1])
    beside = write("two4712", None)
    expect(b"one4711" not in beside, beside)
    marks = {90017, 8023, 3037, 4049}
    expect(not marks & set(_places(beside)) - set(alone), "another stream's usage:", beside)
    after = write("three4713", None)
    expect(not marks & set(_places(after)), "another stream's usage:", after)


@law(
    "declared/stream-type",
    "streams have the media type of a whole answer",
    "declare text/event-stream, application/x-ndjson or what your clients know as a stream",
    has_client,
)
def stream_type(harness: FormatHarness) -> None:
    media = harness.wire.stream_type.partition(";")[0].strip()
    stream = harness.write_stream([unfold(sample_values.REPLIES["text"])])[0]
    if stream.lstrip().startswith((b"data:", b"event:", b":")):
        expect(media == "text/event-stream", media)


LAWS: tuple[Law, ...] = (
    *(shown_law(name, shown, way) for name, shown in SHOWN.items() for way in WAYS),
    finishes,
    ids,
    usage_shown,
    pieces,
    arguments,
    separate,
    stream_type,
)
