"""The binary event stream, against the vendor's own decoder."""

from itertools import pairwise
from struct import pack
from typing import Any
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from gateway_provider_bedrock._frames import Frame, Frames, write_frame
from hypothesis import given
from hypothesis import strategies as st

HEADERS = {":event-type": "metadata", ":message-type": "event"}
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
headers = st.dictionaries(texts, texts, max_size=4)


def theirs(stream: bytes) -> list[tuple[dict[str, Any], bytes]]:
    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    return [(message.headers, message.payload) for message in buffer]


def ours(stream: bytes, *places: int) -> tuple[list[Frame], Frames]:
    frames = Frames()
    edges = [0, *sorted(places), len(stream)]
    found = [frame for start, end in pairwise(edges) for _, frame in frames.feed(stream[start:end])]
    return found, frames


@given(st.lists(st.tuples(headers, st.binary(max_size=50)), max_size=4), st.data())
def test_the_vendors_decoder_and_ours_agree(written: Any, data: st.DataObject) -> None:
    stream = b"".join(write_frame(*frame) for frame in written)
    places = data.draw(st.lists(st.integers(0, len(stream)), max_size=5))

    found, frames = ours(stream, *places)

    assert [(dict(frame.headers), frame.payload) for frame in found] == theirs(stream)
    assert frames.is_empty()


def test_whole_frames_come_back_as_they_came() -> None:
    first, second = write_frame(HEADERS, b"{}"), write_frame({}, b"")

    assert [whole for whole, _ in Frames().feed(first + second)] == [first, second]


def test_headers_of_other_types_are_passed_over() -> None:
    plain = write_frame({"a": "b"}, b"x")
    others = bytes.fromhex("0171 00  0166 01  0162 02 01  0173 03 0102  0169 04 01020304")
    others += bytes.fromhex("016c 05 0102030405060708  0178 06 0002 0102  0174 08 0102030405060708")
    others += bytes.fromhex("0175 09 000102030405060708090a0b0c0d0e0f")
    spelled = others + plain[12:-5]

    lengths = pack(">II", 16 + len(spelled) + 1, len(spelled))
    body = lengths + pack(">I", crc32(lengths)) + spelled + b"x"
    stream = body + pack(">I", crc32(body))

    (found,), frames = ours(stream)

    assert theirs(stream)[0][0]["a"] == "b"
    assert found == Frame({"a": "b"}, b"x")
    assert not frames.is_broken


FRAME = write_frame(HEADERS, b'{"a":1}')


@pytest.mark.parametrize("place", range(len(FRAME)))
def test_a_flipped_bit_is_noticed_or_waited_for(place: int) -> None:
    """A longer length can only be waited for, and the checksum of the lengths sees even that."""
    damaged = bytearray(FRAME)
    damaged[place] ^= 1

    found, frames = ours(bytes(damaged) + FRAME)

    assert found == []
    assert frames.is_broken


def test_what_came_before_the_damage_is_still_read() -> None:
    found, frames = ours(FRAME + b"\0" * 12 + FRAME)

    assert len(found) == 1
    assert frames.is_broken
    assert frames.feed(FRAME) == []


@pytest.mark.parametrize("lengths", [(15, 0), (20, 10), (1 << 30, 0)])
def test_lengths_that_cannot_be_are_refused(lengths: tuple[int, int]) -> None:

    prelude = pack(">II", *lengths)

    _, frames = ours(prelude + pack(">I", crc32(prelude)))

    assert frames.is_broken


@pytest.mark.parametrize("spelled", [b"\x05a", b"\x01a\x07\x00", b"\x01\xff\x07\x00\x00", b"\x01a"])
def test_headers_that_cannot_be_are_refused(spelled: bytes) -> None:

    lengths = pack(">II", 16 + len(spelled), len(spelled))
    body = lengths + pack(">I", crc32(lengths)) + spelled

    _, frames = ours(body + pack(">I", crc32(body)))

    assert frames.is_broken


def test_an_unfinished_frame_is_held() -> None:
    found, frames = ours(FRAME[:-1])

    assert found == []
    assert not frames.is_empty()
    assert not frames.is_broken


@pytest.mark.parametrize(
    ("headers", "name", "is_event"),
    [
        ({":message-type": "event", ":event-type": "metadata"}, "metadata", True),
        ({":message-type": "exception", ":exception-type": "throttling"}, "throttling", False),
        ({":message-type": "error", ":error-code": "500"}, "500", False),
        ({}, "", True),
    ],
)
def test_a_frame_knows_what_it_is(headers: dict[str, str], name: str, is_event: bool) -> None:
    frame = Frame(headers, b"")

    assert (frame.name, frame.is_event) == (name, is_event)
