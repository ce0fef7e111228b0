"""Recorded answers, whole and streamed, against a naive reading of the same JSON."""

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from claude_recordings import (
    GOOD,
    JOINED,
    SHORT,
    SPLICED,
    STREAMS,
    WHOLE,
    events_of,
    frames,
    joined,
    naive,
)
from corpus import Item, answer, named
from msgspec.structs import replace

from gateway_core import AnyPart, Foreign, Reasoning, Reply, Text, ToolCall, VendorSide
from gateway_formats.fold import gather


def turns(stream: bytes) -> list[bytes]:
    """The answers of a fixture that holds several, one after the other."""
    begin = b"event: message_start"
    return [begin + rest for rest in stream.split(begin)[1:]]


EACH_TURN = [
    (f"{item['id']}-{index}", turn)
    for item in JOINED
    for index, turn in enumerate(turns(answer(item)))
]


def reported(reply: Reply) -> dict[str, Any]:
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


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(WHOLE) + len(STREAMS) + len(JOINED) + len(SPLICED) == len(GOOD) == 160


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(vendor: VendorSide, item: Item) -> None:
    assert reported(vendor.read_reply(answer(item))) == naive(json.loads(answer(item)))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(vendor: VendorSide, item: Item) -> None:
    reply = gather(events_of(vendor, [answer(item)]))

    assert reported(reply) == naive(joined(answer(item)))


@pytest.mark.parametrize("turn", [turn for _, turn in EACH_TURN], ids=[n for n, _ in EACH_TURN])
def test_each_of_several_joined_answers_is_read(vendor: VendorSide, turn: bytes) -> None:
    assert reported(gather(events_of(vendor, [turn]))) == naive(joined(turn))


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
