"""Streams that break off or make no sense: what is read of them and what is passed on."""

import json
from typing import Any

import pytest
from claude_streams import (
    HELLO,
    START,
    STOP,
    ended,
    frame,
    grew,
    opened,
    read,
    relayed,
    stream,
    well_formed,
)

from gateway_core import ReplyFailed, VendorSide
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT


@pytest.mark.parametrize("kept", range(len(HELLO)))
def test_an_early_end_is_a_failure(vendor: VendorSide, kept: int) -> None:
    data = stream(*HELLO[:kept])

    events = read(vendor, data)
    passed, relay = relayed(vendor, data)

    assert events[-1] == ReplyFailed(CUT_SHORT)
    assert relay.failure == ReplyFailed(CUT_SHORT)
    assert passed.startswith(data)
    assert well_formed(passed)


def test_a_frame_cut_in_the_middle_is_a_failure(vendor: VendorSide) -> None:
    whole = stream(*HELLO)
    for cut in range(0, len(whole) - 25, 7):
        assert isinstance(read(vendor, whole[:cut])[-1], ReplyFailed)
        assert well_formed(relayed(vendor, whole[:cut])[0])


BROKEN: list[tuple[str, tuple[Any, ...]]] = [
    ("no JSON", (START, b"event: ping\ndata: {nonsense\n\n")),
    ("a list", (START, b"event: ping\ndata: []\n\n")),
    ("a beginning without a message", ({"type": "message_start"},)),
    ("a delta without its block", (START, grew(0, "text_delta", text="a"))),
    ("a delta without a delta", (*HELLO[:2], {"type": "content_block_delta", "index": 0})),
    ("a block twice", (*HELLO[:2], HELLO[1])),
    ("text of numbers", (*HELLO[:2], grew(0, "text_delta", text=3))),
    ("an end without a beginning", (STOP,)),
    ("counts of text", (START, {"type": "message_delta", "delta": {}, "usage": "x"})),
]


@pytest.mark.parametrize("frames", [b[1] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_rubbish_in_a_stream_is_a_failure(vendor: VendorSide, frames: tuple[Any, ...]) -> None:
    data = b"".join(f if isinstance(f, bytes) else frame(f) for f in frames)

    assert read(vendor, data)[-1] == ReplyFailed(UNREADABLE_EVENT)
    passed, relay = relayed(vendor, data + stream(STOP))
    assert relay.failure is not None
    assert well_formed(passed)
    assert passed.endswith(b"\n\n")


ONLY_RELAYED: list[tuple[str, bytes]] = [
    ("a name that is not the type", frame(START).replace(b"event: message_start", b"event: x")),
    ("no name", b"data: " + json.dumps(START).encode() + b"\n\n"),
    ("an end without its reason", stream(START, STOP)),
    ("a block behind the end", stream(*HELLO[:5], opened(1, type="text", text=""))),
    ("a negative index", stream(START, opened(-1, type="text", text=""))),
    ("a block before the beginning", stream(HELLO[1])),
    ("text without its block", stream(START, HELLO[2], ended(), STOP)),
]


@pytest.mark.parametrize("data", [o[1] for o in ONLY_RELAYED], ids=[o[0] for o in ONLY_RELAYED])
def test_what_clients_of_this_format_could_not_read_is_not_passed_on(
    vendor: VendorSide, data: bytes
) -> None:
    passed, relay = relayed(vendor, data)

    assert relay.failure == ReplyFailed(UNREADABLE_EVENT)
    assert well_formed(passed)
