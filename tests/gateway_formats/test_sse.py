"""Frames are the same however their bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_formats.sse import (
    EventDecoder,
    FrameBuffer,
    FrameTooLong,
    parse_data,
    parse_events,
    parse_frame,
    split_frames,
    write_frame,
)

PIECES = [
    b"data: a",
    b"data:b",
    b"data",
    b"data: ",
    b"event: e",
    b"event:f",
    b": note",
    b":",
    b"id: 1",
    b"x",
    b"\xef\xbb\xbf",
    "é\u2028".encode(),
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\n\r\n",
    b"\r\r",
]
streams = st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join)
ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
lines = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@st.composite
def cut(draw: st.DrawFn, whole: bytes) -> list[bytes]:
    at = sorted(draw(st.sets(st.integers(0, len(whole)), max_size=12)))
    return [whole[a:b] for a, b in zip([0, *at], [*at, len(whole)], strict=True)]


def decoded(chunks: list[bytes]) -> list[tuple[bytes, bytes]]:
    decoder = EventDecoder()
    found = [pair for chunk in chunks for pair in decoder.feed(chunk)]
    return found + decoder.close()


def plainly(whole: bytes) -> list[tuple[bytes, bytes]]:
    """What the event-stream rules say, line by line."""
    found, name, data = [], b"", []
    text = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for line in [*text.split(b"\n"), b""]:
        field, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if not line:
            if b"\n".join(data):
                found.append((name, b"\n".join(data)))
            name, data = b"", []
        elif field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return found


@given(streams, st.data())
def test_frames_are_the_same_however_bytes_are_cut(whole: bytes, data: st.DataObject) -> None:
    expected = decoded([whole])

    assert decoded(data.draw(cut(whole))) == expected
    assert decoded([bytes([byte]) for byte in whole]) == expected


@given(streams.filter(lambda whole: b"\xef\xbb\xbf" not in whole))
def test_frames_are_what_the_rules_say(whole: bytes) -> None:
    assert decoded([whole]) == plainly(whole)


usual = st.sampled_from(
    [b"event: e\ndata: a\n\n", b"data: b\n\n", b"data: c\r\n\r\n", b"event: f\r\ndata: d\r\n\r\n"]
)
"""Whole frames as vendors write them, which are read the shortest way where they stand alone."""
spoilt = st.sampled_from(
    [b"", b"id: 1\n", b"data: x\n", b"data: \n\n", b"event: g\n\n", b": c\n\n", b"\n", b"\r", b"x"]
)


@given(st.lists(st.one_of(usual, usual, spoilt), max_size=6).map(b"".join))
def test_the_shortest_way_reads_what_the_rules_say(whole: bytes) -> None:
    found = parse_events(whole + b"\n\n")

    assert found == plainly(whole + b"\n\n")
    assert parse_data(whole + b"\n\n") == [data for _, data in found]
    assert parse_data(whole) == [data for _, data in parse_events(whole)]


@given(streams, st.data())
def test_no_byte_is_lost_or_moved(whole: bytes, data: st.DataObject) -> None:
    frames = FrameBuffer()

    given = [frames.feed(chunk) for chunk in data.draw(cut(whole))]

    assert b"".join(given) + frames.close() == whole
    assert frames.close() == b""


@given(st.lists(st.tuples(lines, st.lists(lines, min_size=1)), max_size=5), ends, st.data())
def test_what_is_written_is_read_with_any_line_end(
    output: list[tuple[str, list[str]]], end: bytes, data: st.DataObject
) -> None:
    whole = b"".join(
        b"".join(
            [b"event: " + name.encode() + end]
            + [b"data: " + line.encode() + end for line in reported]
            + [b": a comment" + end, end]
        )
        for name, reported in output
    )

    expected = [(name.encode(), "\n".join(reported).encode()) for name, reported in output]

    assert decoded(data.draw(cut(whole))) == [pair for pair in expected if pair[1]]


@given(lines, lines)
def test_a_frame_is_read_back(data: str, event: str) -> None:
    written = write_frame(data.encode(), event.encode())

    assert parse_frame(written[:-2]) == (event.encode(), data.encode())


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"data: a", (b"", b"a")),
        (b"data:a", (b"", b"a")),
        (b"data:  a", (b"", b" a")),
        (b"data: a\ndata: b", (b"", b"a\nb")),
        (b"data: a\rdata\r\ndata: b", (b"", b"a\n\nb")),
        (b"event: e\ndata: a", (b"e", b"a")),
        (b"data: a\nevent: e", (b"e", b"a")),
        (b"event: e\ndata: a\nid: 7\nretry: 3", (b"e", b"a")),
        (b": ping", (b"", b"")),
        (b"\xef\xbb\xbfdata: a", (b"", b"a")),
        (b"\xef\xbb\xbfevent: e\ndata: a", (b"e", b"a")),
        (b"database: x", (b"", b"")),
    ],
)
def test_a_block_is_its_name_and_its_data(block: bytes, expected: tuple[bytes, bytes]) -> None:
    assert parse_frame(block) == expected


def test_a_last_frame_counts_without_its_blank_line() -> None:
    assert decoded([b"data: a\n\ndata: b"]) == [(b"", b"a"), (b"", b"b")]


def test_a_cr_at_the_edge_waits_for_what_may_follow() -> None:
    frames = FrameBuffer()

    assert frames.feed(b"data: a\r\n\r") == b""
    assert frames.feed(b"\ndata: b") == b"data: a\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_frame_without_an_end_is_refused_at_the_limit(size: int) -> None:
    frames = FrameBuffer(limit=64)
    endless = b"data: " + b"x" * 58

    for start in range(0, 64, size):
        assert frames.feed(endless[start : start + size]) == b""
    with pytest.raises(FrameTooLong):
        frames.feed(b"x")


def test_the_limit_is_16_mib() -> None:
    frames = FrameBuffer()

    frames.feed(bytes(16 * 1024 * 1024))
    with pytest.raises(FrameTooLong, match="16777216 bytes"):
        frames.feed(b"x")


def test_the_limit_is_for_one_frame_and_not_for_the_stream() -> None:
    decoder = EventDecoder(limit=64)

    found = [pair for _ in range(100) for pair in decoder.feed(b"data: 1\n\ndata: ")]

    assert len(found) == 100


def test_blank_lines_alone_are_no_frames() -> None:
    assert split_frames(b"\n\n\n\n") == []
    assert split_frames(b"\r\n\r\n\r\n\r\n") == []
    assert parse_events(b"") == []
