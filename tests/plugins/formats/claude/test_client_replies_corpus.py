"""Recorded answers, read and written again, against the vendor's own library."""

import json
from typing import Any

import pytest
from anthropic.types.beta import BetaMessage
from claude_recordings import STREAMS, WHOLE, accepted, events_of, frames, joined, known, naive
from corpus import Item, answer, named
from gateway_format_claude import CLAUDE

from gateway_core import ClientSide, Conversation, Losses, VendorSide
from gateway_formats.grammar import find_violation


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
    assert find_violation(CLAUDE.grammar, written) is None
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
