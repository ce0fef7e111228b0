"""Recorded answers, whole and streamed, against a naive reading of the same JSON."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from corpus import Item, answer, items, named
from gateway_format_claude import CLAUDE
from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError

from gateway_core import (
    AnyPart,
    Call,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    Reasoning,
    Reply,
    ReplyFailed,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    VendorSide,
)
from gateway_formats.fold import gather
from gateway_formats.grammar import violation

GOOD = [item for item in items("anthropic_messages") if item["response_status"] == 200]
WHOLE = [item for item in GOOD if not item["stream"]]
JOINED = [item for item in GOOD if "joined_turns" in item["features"]]
SPLICED = [item for item in GOOD if "spliced" in item["id"]]
STREAMS = [item for item in GOOD if item["stream"] and item not in JOINED + SPLICED]
SHORT = [item for item in STREAMS if len(answer(item)) < 3500]

TARGET = Target(ProviderSpec(id="anthropic", name="A", format="claude"), Model("m"))


def turns(stream: bytes) -> list[bytes]:
    """The answers of a fixture that holds several, one after the other."""
    begin = b"event: message_start"
    return [begin + rest for rest in stream.split(begin)[1:]]


EACH_TURN = [
    (f"{item['id']}-{index}", turn)
    for item in JOINED
    for index, turn in enumerate(turns(answer(item)))
]


def frames(stream: bytes) -> Iterator[dict[str, Any]]:
    for line in stream.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            yield json.loads(line[5:])


def joined(stream: bytes) -> dict[str, Any]:
    """The message that a stream amounts to, put together by the plainest means."""
    message: dict[str, Any] = {}
    pieces: dict[int, str] = {}
    for event in frames(stream):
        match event["type"]:
            case "message_start" if not message:
                message = event["message"]
            case "content_block_start":
                message["content"].append(event["content_block"])
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                match delta["type"]:
                    case "text_delta":
                        block["text"] += delta["text"]
                    case "thinking_delta":
                        block["thinking"] += delta["thinking"]
                    case "signature_delta":
                        block["signature"] = delta["signature"]
                    case "citations_delta":
                        block.setdefault("citations", []).append(delta["citation"])
                    case "compaction_delta":
                        block["content"] = (block.get("content") or "") + delta["content"]
                    case "input_json_delta":
                        index = event["index"]
                        pieces[index] = pieces.get(index, "") + delta["partial_json"]
            case "content_block_stop" if pieces.get(event["index"]):
                message["content"][event["index"]]["input"] = json.loads(pieces[event["index"]])
            case "message_delta":
                said = {k: v for k, v in event["usage"].items() if v is not None}
                message["usage"] = {**message["usage"], **said}
                message.update(event["delta"])
    return message


FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


def naive(message: dict[str, Any]) -> dict[str, Any]:
    content, usage = message["content"], message["usage"]

    def of(kind: str) -> list[dict[str, Any]]:
        return [block for block in content if block["type"] == kind]

    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    known = ("text", "thinking", "redacted_thinking", "tool_use")
    return {
        "text": "".join(block["text"] for block in of("text")),
        "thinking": [(b["thinking"], b.get("signature") or None) for b in of("thinking")],
        "sealed": [block["data"] for block in of("redacted_thinking")],
        "calls": [(b["id"], b["name"], b["input"]) for b in of("tool_use")],
        "cited": [c["cited_text"] for b in of("text") for c in b.get("citations") or ()],
        "others": [block for block in content if block["type"] not in known],
        "finish": FINISHES[message["stop_reason"]],
        "usage": (
            usage["input_tokens"] + cached + written,
            usage["output_tokens"],
            cached,
            written,
        ),
        "id": message["id"],
        "model": message["model"],
    }


def told(reply: Reply) -> dict[str, Any]:
    (choice,) = reply.choices
    parts, usage = choice.parts, reply.usage
    assert usage is not None
    thinking = [part for part in parts if isinstance(part, Reasoning)]
    texts = [part for part in parts if isinstance(part, Text)]
    return {
        "text": "".join(part.text for part in texts),
        "thinking": [(t.text, t.signature) for t in thinking if t.sealed is None],
        "sealed": [t.sealed for t in thinking if t.sealed is not None],
        "calls": [
            (c.id, c.name, json.loads(c.arguments)) for c in parts if isinstance(c, ToolCall)
        ],
        "cited": [c.quote or "" for part in texts for c in part.citations],
        "others": [json.loads(bytes(p.raw)) for p in parts if isinstance(p, Foreign)],
        "finish": choice.finish,
        "usage": (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
        ),
        "id": reply.id,
        "model": reply.model,
    }


def events_of(vendor: VendorSide, chunks: Sequence[bytes]) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.close()]


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(WHOLE) + len(STREAMS) + len(JOINED) + len(SPLICED) == len(GOOD) == 160


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(vendor: VendorSide, item: Item) -> None:
    assert told(vendor.read_reply(answer(item))) == naive(json.loads(answer(item)))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(vendor: VendorSide, item: Item) -> None:
    reply = gather(events_of(vendor, [answer(item)]))

    assert told(reply) == naive(joined(answer(item)))


@pytest.mark.parametrize("turn", [turn for _, turn in EACH_TURN], ids=[n for n, _ in EACH_TURN])
def test_each_of_several_joined_answers_is_read(vendor: VendorSide, turn: bytes) -> None:
    assert told(gather(events_of(vendor, [turn]))) == naive(joined(turn))


def test_what_follows_the_end_of_an_answer_is_not_read(vendor: VendorSide) -> None:
    for item in JOINED:
        whole = answer(item)

        assert events_of(vendor, [whole]) == events_of(vendor, [turns(whole)[0]])


def spelled(part: AnyPart) -> Any:
    """A part with all that is JSON inside it read."""
    if isinstance(part, ToolCall):
        return part.id, part.name, json.loads(part.arguments)
    if isinstance(part, Foreign):
        return part.type, json.loads(bytes(part.raw))
    if isinstance(part, Text):
        return part.text, [json.loads(bytes(c.raw or b"{}")) for c in part.citations]
    return replace(part, extra={})


def same(reply: Reply) -> tuple[Any, ...]:
    """A reply without what only one of the two ways can say.

    Arguments are compared as JSON, because a stream gives the model's own
    spelling, and a whole answer's members stand in its extra.
    """
    (choice,) = reply.choices
    parts = [spelled(part) for part in choice.parts]
    late = {name: json.loads(bytes(value)) for name, value in choice.extra.items()}
    return parts, choice.finish, choice.stop_sequence, late, reply.usage, reply.id, reply.model


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_amounts_to_the_same_reply_as_its_whole_message(
    vendor: VendorSide, item: Item
) -> None:
    streamed = gather(events_of(vendor, [answer(item)]))
    message = joined(answer(item))
    management = next((e for e in frames(answer(item)) if e.get("context_management")), {})
    if management:
        message["context_management"] = management["context_management"]

    whole = vendor.read_reply(json.dumps(message).encode())

    assert same(streamed)[:2] == same(whole)[:2]
    assert same(streamed)[2:] == same(whole)[2:]


@pytest.mark.parametrize("item", STREAMS + JOINED + SPLICED, ids=named)
def test_a_stream_cut_anywhere_gives_the_same_events(vendor: VendorSide, item: Item) -> None:
    whole, chance = answer(item), random.Random(named(item))
    expected = events_of(vendor, [whole])
    for _ in range(3):
        cuts = sorted(chance.sample(range(len(whole)), k=min(20, len(whole) - 1)))
        edges = [0, *cuts, len(whole)]

        assert events_of(vendor, [whole[a:b] for a, b in pairwise(edges)]) == expected


@pytest.mark.parametrize("item", SHORT[:8], ids=named)
def test_a_stream_in_single_bytes_gives_the_same_events(vendor: VendorSide, item: Item) -> None:
    whole = answer(item)

    assert events_of(vendor, [whole[i : i + 1] for i in range(len(whole))]) == events_of(
        vendor, [whole]
    )


@pytest.mark.parametrize("item", SHORT[:8], ids=named)
def test_other_line_ends_give_the_same_events(vendor: VendorSide, item: Item) -> None:
    whole = answer(item)
    commented = b": hello\n\n" + whole.replace(b"\n\n", b"\n\n: still here\n\n")

    assert events_of(vendor, [whole.replace(b"\n", b"\r\n")]) == events_of(vendor, [whole])
    assert events_of(vendor, [commented]) == events_of(vendor, [whole])


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """A stream with a frame lost, doubled, moved, or with a byte changed."""
    frames = whole.split(b"\n\n")[:-1]
    at, to = chance.randrange(len(frames)), chance.randrange(len(frames))
    match chance.randrange(4):
        case 0:
            del frames[at]
        case 1:
            frames.insert(to, frames[at])
        case 2:
            frames.insert(to, frames.pop(at))
        case 3:
            frame = bytearray(frames[at])
            frame[chance.randrange(len(frame))] = chance.randrange(256)
            frames[at] = bytes(frame)
    return b"".join(frame + b"\n\n" for frame in frames)


@pytest.mark.parametrize("item", SHORT[:12], ids=named)
def test_a_damaged_stream_is_passed_on_as_far_as_it_is_well_formed(
    vendor: VendorSide, client: ClientSide, item: Item
) -> None:
    assert CLAUDE.grammar is not None
    chance = random.Random(named(item))
    for _ in range(60):
        stream = damaged(answer(item), chance)

        passed, relay = relayed(vendor, [stream], stream=True)
        events = events_of(vendor, [stream])
        writer = client.stream_writer(Conversation(), Losses())
        rewritten = writer.feed(events) + writer.close()

        assert violation(CLAUDE.grammar, passed) is None
        assert CLAUDE.grammar.words(passed)[-1] == ("stop" if relay.failure is None else "error")
        assert isinstance(events[-1], ReplyFailed | ChoiceEnded)
        assert violation(CLAUDE.grammar, rewritten) is None


def length(delta: dict[str, Any]) -> int:
    grown = ("text", "thinking", "partial_json")
    return sum(len(delta.get(name) or "") for name in grown)


def relayed(vendor: VendorSide, chunks: Sequence[bytes], *, stream: bool) -> tuple[bytes, Any]:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=stream, body=b"{}")
    relay = vendor.relay(call, TARGET, {})
    out = b"".join(relay.feed(chunk) for chunk in chunks)
    return out + relay.close(), relay


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_relay_passes_a_stream_as_it_came(vendor: VendorSide, item: Item) -> None:
    whole, expected = answer(item), gather(events_of(vendor, [answer(item)]))
    middle = len(whole) // 3

    passed, relay = relayed(vendor, [whole[:middle], whole[middle:]], stream=True)

    assert CLAUDE.grammar is not None
    if "duplicate_message_start" not in item["features"]:
        assert passed.strip() == whole.strip()
    assert violation(CLAUDE.grammar, passed) is None
    assert relay.usage == expected.usage
    assert relay.started
    assert relay.failure is None
    assert relay.characters == sum(length(event.get("delta", {})) for event in frames(passed))


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_the_relay_passes_a_whole_answer_as_it_came(vendor: VendorSide, item: Item) -> None:
    passed, relay = relayed(vendor, [answer(item)], stream=False)

    assert passed == answer(item)
    assert relay.usage == vendor.read_reply(answer(item)).usage
    assert relay.failure is None


def test_a_second_beginning_is_left_out(vendor: VendorSide) -> None:
    item = next(i for i in STREAMS if "duplicate_message_start" in i["features"])

    passed, relay = relayed(vendor, [answer(item)], stream=True)

    assert passed.count(b"event: message_start") == 1
    assert passed.endswith(b'{"type":"message_stop"}\n\n')
    assert relay.failure is None


def test_an_answer_that_begins_again_in_the_middle_is_broken_off(vendor: VendorSide) -> None:
    (item,) = SPLICED

    passed, relay = relayed(vendor, [answer(item)], stream=True)

    assert CLAUDE.grammar is not None
    assert violation(CLAUDE.grammar, passed) is None
    assert relay.failure is not None
    assert "second answer" in relay.failure.message
    assert b"msg_second" not in passed


def accepted(kind: Any, said: Any) -> bool:
    """Whether the library's type takes it; it refuses a few older recordings as they are."""
    try:
        adapter: TypeAdapter[Any] = ADAPTERS.setdefault(kind, TypeAdapter(kind))
        adapter.validate_json(said) if isinstance(said, bytes) else adapter.validate_python(said)
    except ValidationError:
        return False
    return True


ADAPTERS: dict[Any, Any] = {}


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_written_again_is_what_the_library_reads(
    vendor: VendorSide, client: ClientSide, item: Item
) -> None:
    losses = Losses()

    written = client.write_reply(vendor.read_reply(answer(item)), Conversation(), losses)

    assert accepted(BetaMessage, written) or not accepted(BetaMessage, answer(item))
    again, before = naive(json.loads(written)), naive(json.loads(answer(item)))
    again["thinking"] = [(text, unsealed(mark)) for text, mark in again["thinking"]]
    again["sealed"] = [unsealed(mark) for mark in again["sealed"]]
    assert again == before
    assert not losses


def unknown_shapes(stream: bytes) -> set[Any]:
    """Shapes of events that the library's types refuse; each shape is tried once in all tests."""
    return {shape for event in frames(stream) if not known(shape := shape_of(event), event)}


def shape_of(value: Any) -> Any:
    """The members of an object, with what they are; the words that tell kinds apart stay."""
    if isinstance(value, dict):
        kinds = ("type", "name", "stop_reason", "role")
        return tuple(
            (name, item if name in kinds and not isinstance(item, dict) else shape_of(item))
            for name, item in sorted(value.items())
        )
    return tuple(map(shape_of, value[:1])) if isinstance(value, list) else type(value)


def known(shape: Any, event: dict[str, Any]) -> bool:
    if shape not in KNOWN:
        KNOWN[shape] = accepted(BetaRawMessageStreamEvent, event)
    return KNOWN[shape]


KNOWN: dict[Any, bool] = {}


def unsealed(mark: str | None) -> str | None:
    """A signature as its vendor wrote it, out of the slot this gateway wrote it into."""
    return None if not mark else mark.partition(":")[2]


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_written_again_is_what_the_library_reads(
    vendor: VendorSide, client: ClientSide, item: Item
) -> None:
    losses = Losses()
    writer = client.stream_writer(Conversation(stream=True), losses)
    events = events_of(vendor, [answer(item)])

    written = b"".join(writer.feed([event]) for event in events) + writer.close()

    assert CLAUDE.grammar is not None
    assert violation(CLAUDE.grammar, written) is None
    assert unknown_shapes(answer(item)) or not unknown_shapes(written)
    again, before = naive(joined(written)), naive(joined(answer(item)))
    again["thinking"] = [(text, unsealed(mark)) for text, mark in again["thinking"]]
    again["sealed"] = [unsealed(mark) for mark in again["sealed"]]
    assert again == before
    assert not losses


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_batching_changes_no_byte_but_the_early_counts(
    vendor: VendorSide, client: ClientSide, item: Item
) -> None:
    events = events_of(vendor, [answer(item)])
    at_once = client.stream_writer(Conversation(), Losses())
    in_pairs = client.stream_writer(Conversation(), Losses())

    whole = at_once.feed(events) + at_once.close()
    pieces = b"".join(in_pairs.feed(events[i : i + 2]) for i in range(0, len(events), 2))

    assert whole == pieces + in_pairs.close()


def test_the_library_refuses_only_a_few_recordings_as_they_are() -> None:
    refused = [item for item in WHOLE if not accepted(BetaMessage, answer(item))]

    assert len(refused) < 8
