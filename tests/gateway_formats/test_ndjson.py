"""Lines are the same however their bytes are cut."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_formats.ndjson import LineBuffer, escape_line_separators, split_lines
from gateway_formats.sse import FrameTooLong

PIECES = [b'{"a":1}', b"{}", b" ", b"\n", b"\r\n", b"\n\n", b"\r", b"x", "é\u2028\x85".encode()]
streams = st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join)


@st.composite
def cut(draw: st.DrawFn, whole: bytes) -> list[bytes]:
    at = sorted(draw(st.sets(st.integers(0, len(whole)), max_size=12)))
    return [whole[a:b] for a, b in zip([0, *at], [*at, len(whole)], strict=True)]


def read(chunks: list[bytes]) -> list[bytes]:
    held = LineBuffer()
    found = [line for chunk in chunks for line in split_lines(held.feed(chunk))]
    return found + split_lines(held.close())


@given(streams, st.data())
def test_lines_are_the_same_however_bytes_are_cut(whole: bytes, data: st.DataObject) -> None:
    expected = [line.strip() for line in whole.split(b"\n") if line.strip()]

    assert read([whole]) == expected
    assert read(data.draw(cut(whole))) == expected
    assert read([bytes([byte]) for byte in whole]) == expected


@given(streams, st.data())
def test_no_byte_is_lost_or_moved(whole: bytes, data: st.DataObject) -> None:
    held = LineBuffer()

    given = [held.feed(chunk) for chunk in data.draw(cut(whole))]

    assert b"".join(given) + held.close() == whole
    assert held.close() == b""


def test_a_line_without_an_end_is_refused_at_the_limit() -> None:
    held = LineBuffer(limit=8)

    assert held.feed(b"12345678") == b""
    with pytest.raises(FrameTooLong):
        held.feed(b"9")


def test_the_limit_is_16_mib_and_for_one_line() -> None:
    held = LineBuffer()
    held.feed(b"first\n")
    held.feed(bytes(16 * 1024 * 1024))

    with pytest.raises(FrameTooLong, match="16777216 bytes"):
        held.feed(b"x")


@given(st.text())
def test_one_line_means_the_same_and_has_no_separator_in_it(text: str) -> None:
    written = msgspec.json.encode({"text": text})

    line = escape_line_separators(written)

    assert msgspec.json.decode(line) == {"text": text}
    assert len(line.decode().splitlines()) == 1
