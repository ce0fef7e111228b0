"""Laws of whole and streamed answers that have to say the same, exactly and in their order.

They look at the JSON that clients get, so that they hold for formats that no vendor speaks too.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
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
    unseal,
)
from gateway_formats.fold import unfold

from .case import Law, expect, has_client, law
from .harness import PROVIDER, FormatHarness
from .marks import scalars
from .sample_values import FIRST, MANY_BYTES, SECOND, SIGNATURE, TEXT, build_reply
from .shown import ALL_FINISHES, USAGE, WAYS, rows_of, texts_of

EXACT = (
    MANY_BYTES,
    'quotes " and \\ and {"json": [1]}',
    "  spaces\taround \n",
    "\x85 and \u2029 end lines \x01",
)
LINE_ENDS = ("\x85", "\u2028", "\u2029")
ARGUMENTS = (
    '{"city":"first4711"}',
    '{"list":[1,[2,{"deep":null}]],"yes":true,"no":false,"half":0.5}',
    '{"letters":"né 日本語 🦓 \\u2028","quotes":"\\"a\\\\b\\"\\n"}',
    '{"long":9007199254740993}',
    "{}",
)
ODD_ARGUMENTS = ("", "{broken", "free text", "[1]", "7", '"text"', "\u2028")


def strings_of(rows: Sequence[object]) -> dict[str, str]:
    """The strings of all rows by the name of their member, put together in their order."""
    found: dict[str, str] = {}

    def walk(value: object, name: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, str(key))
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)
        elif isinstance(value, str):
            found[name] = found.get(name, "") + value

    for row in rows:
        walk(row, "")
    return found


def objects_of(value: object) -> Iterator[object]:
    """Every value, at any depth."""
    yield value
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    for each in inner:
        yield from objects_of(each)


def in_pieces(reply: Reply, size: int = 5) -> list[list[StreamEvent]]:
    """The reply as events whose texts grow in pieces, each event by itself."""
    events: list[list[StreamEvent]] = []
    for event in unfold(reply):
        if isinstance(event, PartGrew):
            text = event.text
            cut = [text[at : at + size] for at in range(0, len(text), size)]
            events += [[replace(event, text=piece)] for piece in cut]
        else:
            events.append([event])
    return events


def _both(harness: FormatHarness, reply: Reply) -> Iterator[tuple[str, bytes, Losses]]:
    yield "whole", *harness.write_reply(reply)
    yield "streamed", *harness.write_stream(in_pieces(reply))


@law(
    "replies/exact-words",
    "words of an answer are not shown exactly as they were said",
    "write every letter, quote and white space, and frame a stream so that none of them breaks it",
    has_client,
)
def exact_words(harness: FormatHarness) -> None:
    for text in EXACT:
        for way, body, losses in _both(harness, build_reply(Text(text=text))):
            said = strings_of(rows_of(body)).values()
            expect(bool(losses) or any(text in each for each in said), f"{way}: {text!r}", body)
            if way == "streamed" and "ndjson" in harness.wire.stream_type:
                splits = [each for each in LINE_ENDS if each.encode() in body]
                expect(not splits, f"readers of lines split at {splits}", body)


@law(
    "replies/exact-arguments",
    "arguments of a call are not shown exactly as the model wrote them",
    "write them as text, or as the object that the text means, number by number",
    has_client,
)
def exact_arguments(harness: FormatHarness) -> None:
    for arguments in ARGUMENTS:
        reply = build_reply(replace(FIRST, arguments=arguments), finish="tool_calls")
        for way, body, losses in _both(harness, reply):
            if losses:
                continue
            rows = rows_of(body)
            meant = msgspec.json.decode(arguments)
            is_there = any(arguments in each for each in strings_of(rows).values())
            is_there |= any(_is_same(each, meant) for row in rows for each in objects_of(row))
            expect(is_there, f"{way}: {arguments}", body)


def _is_same(value: object, meant: object) -> bool:
    return value == meant and msgspec.json.encode(value) == msgspec.json.encode(meant)


@law(
    "replies/odd-arguments",
    "arguments that are no object raise or are lost",
    "write them as text, inside an object if need be; {} is for no arguments",
    has_client,
)
def odd_arguments(harness: FormatHarness) -> None:
    for arguments in ODD_ARGUMENTS:
        reply = build_reply(replace(FIRST, arguments=arguments), finish="tool_calls")
        for way, body, losses in _both(harness, reply):
            said = strings_of(rows_of(body)).values()
            is_there = len(arguments) < 3 or any(arguments in each for each in said)
            with suppress(msgspec.DecodeError):
                meant = msgspec.json.decode(arguments)
                is_there |= any(each == meant for row in rows_of(body) for each in objects_of(row))
            expect(bool(losses) or is_there, f"{way}: {arguments}", body)
            nothing = arguments == "" and any(_is_null_argument(row) for row in rows_of(body))
            expect(not nothing, f"{way}: no arguments are null", body)


def _shape(body: bytes) -> list[str]:
    """Names of members and words of an answer, without ids and times."""
    objects = [each for row in rows_of(body) for each in objects_of(row)]
    names = {f"{key}:" for each in objects if isinstance(each, dict) for key in each}
    return sorted({*names, *map(str, _stable(body))})


def _holders(body: bytes, words: str) -> set[str]:
    """The names of the members that hold these words."""
    return {name for name, text in strings_of(rows_of(body)).items() if words in text}


@law(
    "replies/kinds-agree",
    "a refusal or thinking looks like a text, whole or streamed only",
    "write each kind of part in the same way in both",
    has_client,
)
def kinds_agree(harness: FormatHarness) -> None:
    words = "some words4711"
    for part in (Refusal(text=words), Reasoning(text=words)):
        differs = {}
        for way, write in WAYS.items():
            body, losses = write(harness, build_reply(part))
            plain, _ = write(harness, build_reply(Text(text=words)))
            is_named = _holders(body, words) != _holders(plain, words)
            differs[way] = bool(losses) or is_named or _shape(body) != _shape(plain)
        expect(len(set(differs.values())) == 1, f"{type(part).__name__} differs: {differs}")


@law(
    "streams/arguments-at-once",
    "arguments that are known when a call begins are lost",
    "write what PartStarted holds of a part, and then what it grows by",
    has_client,
)
def arguments_at_once(harness: FormatHarness) -> None:
    events: list[StreamEvent] = [
        *(ReplyStarted("r4711", "kit-model"), PartStarted(0, FIRST), PartEnded(0)),
        ChoiceEnded("tool_calls"),
    ]
    body, losses = harness.write_stream([[event] for event in events])
    expect(bool(losses) or b"first4711" in body, body)


def _is_null_argument(row: object) -> bool:
    objects = [each for each in objects_of(row) if isinstance(each, dict)]
    return any(
        each[key] is None for each in objects for key in ("args", "arguments") if key in each
    )


@law(
    "replies/order",
    "texts or calls change places",
    "write parts in the order in which the answer has them",
    has_client,
)
def order(harness: FormatHarness) -> None:
    words = tuple(Text(text=f"word{number}4711 ") for number in range(4))
    parts = (words[0], FIRST, words[1], SECOND, words[2], words[3])
    for way, body, losses in _both(harness, build_reply(*parts, finish="tool_calls")):
        if losses:
            continue
        said = " ".join(strings_of(rows_of(body)).values())
        places = [said.find(part.text.strip()) for part in words]
        expect(-1 not in places and places == sorted(places), f"{way}: texts at {places}", body)
        ids = [said.find(call.id) for call in (FIRST, SECOND)]
        expect(-1 in ids or ids == sorted(ids), f"{way}: calls at {ids}", body)


@law(
    "replies/finishes-agree",
    "a reason to end is told in whole answers only, or in streams only",
    "write the same word for a Finish in both",
    has_client,
)
def finishes_agree(harness: FormatHarness) -> None:
    def new(way: str, **fields: Any) -> set[str]:
        write = WAYS[way]
        usual = [set(texts_of(harness, write(harness, build_reply(TEXT))[0])) for _ in "ab"]
        body, _ = write(harness, replace(build_reply(TEXT), choices=(Choice(**fields),)))
        # What differs between two equal answers is an id or a time.
        shown = {each for each in texts_of(harness, body) if not re.search(r"\d{3,}", each)}
        return shown - usual[0] - usual[1]

    for finish in ALL_FINISHES:
        whole, streamed = (new(way, parts=(TEXT,), finish=finish) for way in WAYS)
        expect(bool(whole) == bool(streamed), f"{finish}: {whole} whole, {streamed} streamed")
    names = {
        way: b"answer-kit" in write(harness, replace(build_reply(TEXT), id="answer-kit"))[0]
        for way, write in WAYS.items()
    }
    expect(len(set(names.values())) == 1, f"the answer's id: {names}")
    met = {way: new(way, parts=(TEXT,), stop_sequence="halt-kit") for way in WAYS}
    is_told = {way: "halt-kit" in said for way, said in met.items()}
    expect(len(set(is_told.values())) == 1, f"the stop text that was met: {is_told}")


@law(
    "replies/usage-agrees",
    "whole and streamed answers tell different numbers of tokens",
    "write usage in one place for both; a later report replaces an earlier one",
    has_client,
)
def usage_agrees(harness: FormatHarness) -> None:
    samples = (
        USAGE,
        Usage(input_tokens=90017, output_tokens=8023, cache_write_tokens=5051),
        Usage(input_tokens=2**40 + 1, output_tokens=2**33 + 1),
    )
    for usage in samples:
        reply = replace(build_reply(TEXT), usage=usage)
        whole = _counts(harness.write_reply(reply)[0])
        start, *parts, _, end = unfold(reply)
        early = UsageReported(Usage(input_tokens=77_777, output_tokens=66_666))
        for events in (
            unfold(reply),
            [start, early, *parts, UsageReported(usage), end],
            [start, *parts, early, end, UsageReported(usage)],
        ):
            streamed, _ = harness.write_stream([[event] for event in events])
            missing = whole - _counts(streamed)
            expect(not missing, f"{missing} of the whole answer's counts are not there", streamed)
        last = _counts(streamed) - whole
        expect(not last & {77_777 + usage.input_tokens, 66_666 + usage.output_tokens}, last)
    none = _counts(harness.write_reply(replace(build_reply(TEXT), usage=Usage()))[0])
    none -= _counts(harness.write_reply(replace(build_reply(TEXT), usage=USAGE))[0])
    expect(not none, "tokens that nobody counted:", none)


def _counts(body: bytes) -> set[int]:
    """Numbers that may count tokens: neither small ones nor times."""
    numbers = {each for row in rows_of(body) for each in scalars(row) if type(each) is int}
    return {each for each in numbers if each > 0 and not 1_000_000_000 <= each < 3_000_000_000}


@law(
    "streams/parallel-calls",
    "pieces of calls that grow at the same time are mixed up",
    "tell calls apart by an index or an id, or put them one after another with "
    "gateway_formats.sequence",
    has_client,
)
def parallel_calls(harness: FormatHarness) -> None:
    calls = (FIRST, SECOND)
    events: list[StreamEvent] = [ReplyStarted("r4711", "kit-model")]
    events += [PartStarted(index, replace(call, arguments="")) for index, call in enumerate(calls)]
    longest = max(len(call.arguments) for call in calls)
    for place in range(0, longest, 3):
        for index, call in enumerate(calls):
            if piece := call.arguments[place : place + 3]:
                events.append(PartGrew(index, piece))
    events += [*(PartEnded(index) for index, _ in enumerate(calls)), ChoiceEnded("tool_calls")]
    body, losses = harness.write_stream([[event] for event in events])
    if losses:
        return
    rows = rows_of(body)
    for call in calls:
        meant = msgspec.json.decode(call.arguments)
        is_there = any(call.arguments in text for text in _grouped(rows))
        is_there |= any(each == meant for row in rows for each in objects_of(row))
        expect(is_there, call.arguments, body)


def _grouped(rows: Sequence[object]) -> Iterator[str]:
    """Strings put together: of all rows, and of those with the same value of a member."""
    yield from strings_of(rows).values()
    groups: dict[tuple[str, ...], list[object]] = {}
    for row in rows:
        for path, each in _placed(row):
            for key, value in each.items():
                if isinstance(value, str | int):
                    groups.setdefault((*path, key, repr(value)), []).append(each)
    for group in groups.values():
        yield from strings_of(group).values()


def _placed(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every object, at any depth, with the names that lead to it."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from _placed(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _placed(inner, path)


@law(
    "streams/signatures",
    "a vendor's signature of its thinking does not reach the client of a stream",
    "seal what PartStarted and PartSealed bring, or name it in losses",
    has_client,
)
def signatures(harness: FormatHarness) -> None:
    start, end = ReplyStarted("r4711", "kit-model"), ChoiceEnded("stop")
    thinking = Reasoning(text="", origin=PROVIDER)
    grown: list[StreamEvent] = [
        *(start, PartStarted(0, thinking), PartGrew(0, "pondering4711")),
    ]
    sealed = PartSealed(0, signature=SIGNATURE, origin=PROVIDER)
    ways: dict[str, list[StreamEvent]] = {
        "with PartSealed": [*grown, sealed, PartEnded(0), end],
        "with PartSealed and a call": [
            *(*grown, sealed, PartEnded(0), PartStarted(1, FIRST), PartEnded(1)),
            ChoiceEnded("tool_calls"),
        ],
    }
    for way, events in ways.items():
        body, losses = harness.write_stream([[event] for event in events])
        expect(bool(losses) or _holds_signature(body), f"{way}:", body)


@law(
    "replies/signatures-return",
    "a signature is shown in a form that cannot come back",
    "seal it together with its origin, or name it in losses",
    has_client,
)
def signatures_return(harness: FormatHarness) -> None:
    for parts in (
        (Reasoning(text="pondering4711", signature=SIGNATURE, origin=PROVIDER), FIRST),
        (Reasoning(signature=SIGNATURE, origin=PROVIDER), FIRST),
        (Reasoning(sealed="sealed4711", origin=PROVIDER), TEXT),
        (replace(FIRST, signature=SIGNATURE, origin=PROVIDER),),
    ):
        body, losses = harness.write_reply(build_reply(*parts, finish="tool_calls"))
        expect(bool(losses) or _holds_signature(body), parts, body)


def _holds_signature(body: bytes) -> bool:
    found = [each for row in rows_of(body) for each in scalars(row) if isinstance(each, str)]
    plain = [opened for each in found if (opened := unseal(each)) is not None]
    if plain:
        return any(PROVIDER in origin for origin, _ in plain)
    return any("_gwS1_" in each or "X2d3UzFf" in each for each in found)


ODD_REPLIES: dict[str, Reply] = {
    "no choices": replace(build_reply(), choices=()),
    "a part of another dialect": build_reply(
        Foreign(dialect="kit-other", type="kit_work", raw=Raw(b'{"kit":1}')), TEXT
    ),
    "a sound": build_reply(Media(kind="audio", media_type="audio/wav", data="c291bmQ0NzEx")),
    "a document": build_reply(Media(kind="document", text="words4711", name="a.txt")),
    "a picture by its address": build_reply(Media(kind="image", url="https://kit.example/4711")),
    "an empty text": build_reply(Text(text="")),
    "an empty refusal": build_reply(Refusal(text=""), finish="refusal"),
    "a call of a tool for free text": build_reply(
        ToolCall(id="call_00003", name="free", arguments="any words4711", custom=True),
        finish="tool_calls",
    ),
    "no id": replace(build_reply(TEXT), id="", model=""),
    "a failure": replace(
        build_reply(), choices=(Choice(parts=(TEXT,), finish="error", failure="bad luck4711"),)
    ),
    "a source without an address": build_reply(
        replace(TEXT, citations=(Citation(title="a title", quote="a quote", document=0),))
    ),
}
SILENT = {
    "a sound": "c291bmQ0NzEx",
    "a document": "words4711",
    "a picture by its address": "https://kit.example/4711",
    "a call of a tool for free text": "any words4711",
}
"""What must be there, unless the losses name it."""


@law(
    "replies/odd",
    "an answer that vendors may give raises, or a part of it is lost in silence",
    "write whatever a Reply may hold, and name in losses what your clients have no place for",
    has_client,
)
def odd(harness: FormatHarness) -> None:
    for name, reply in ODD_REPLIES.items():
        for way, body, losses in _both(harness, reply):
            mark = SILENT.get(name, "")
            said = strings_of(rows_of(body)).values()
            marks = (mark, base64.b64encode(mark.encode()).decode())
            is_there = any(form in each for form in marks for each in said)
            expect(bool(losses) or is_there, f"{name}, {way}:", body)


@law(
    "replies/apart",
    "an answer is another one after others were written",
    "keep nothing of an answer, and change nothing that it shares",
    has_client,
)
def apart(harness: FormatHarness) -> None:
    samples = [build_reply(TEXT), *ODD_REPLIES.values(), build_reply(FIRST, finish="tool_calls")]

    def write(reply: Reply) -> list[object]:
        return [sorted(map(str, _stable(body))) for _, body, _ in _both(harness, reply)]

    first = [write(reply) for reply in samples]
    again = [write(reply) for reply in reversed(samples)][::-1]
    for reply, one, other in zip(samples, first, again, strict=True):
        expect(one == other, reply, one, other)


def _stable(body: bytes) -> list[object]:
    """What is said, without ids and times of the gateway's own."""
    found = [each for row in rows_of(body) for each in scalars(row)]
    return [each for each in found if not re.search(r"[0-9a-f]{8}|\d{9}|^\d+\.\d+$", str(each))]


LAWS: tuple[Law, ...] = (
    exact_words,
    exact_arguments,
    odd_arguments,
    kinds_agree,
    arguments_at_once,
    order,
    finishes_agree,
    usage_agrees,
    parallel_calls,
    signatures,
    signatures_return,
    odd,
    apart,
)
