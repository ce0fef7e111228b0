"""Recorded answers on their way to a client of the same format, whole and damaged ones."""

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from claude_recordings import SHORT, SPLICED, STREAMS, WHOLE, events_of, frames
from corpus import Item, answer, named
from gateway_format_claude import CLAUDE

from gateway_core import (
    Call,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    ReplyFailed,
    Target,
    VendorSide,
)
from gateway_formats.fold import gather
from gateway_formats.grammar import find_violation

TARGET = Target(ProviderSpec(id="anthropic", name="A", format="claude"), Model("m"))


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

        assert find_violation(CLAUDE.grammar, passed) is None
        assert CLAUDE.grammar.words(passed)[-1] == ("stop" if relay.failure is None else "error")
        assert isinstance(events[-1], ReplyFailed | ChoiceEnded)
        assert find_violation(CLAUDE.grammar, rewritten) is None


def length(delta: dict[str, Any]) -> int:
    grown = ("text", "thinking", "partial_json")
    return sum(len(delta.get(name) or "") for name in grown)


def relayed(vendor: VendorSide, chunks: Sequence[bytes], *, stream: bool) -> tuple[bytes, Any]:
    # The client used the vendor's own name for the model.
    named = re.search(rb'"model":\s*"([^"]*)"', b"".join(chunks))
    model = named[1].decode() if named else "m"
    call = Call(kind=Kind.LLM, format="claude", model=model, stream=stream, body=b"{}")
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
    assert find_violation(CLAUDE.grammar, passed) is None
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
    assert find_violation(CLAUDE.grammar, passed) is None
    assert relay.failure is not None
    assert "second answer" in relay.failure.message
    assert b"msg_second" not in passed
