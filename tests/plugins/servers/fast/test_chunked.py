"""Chunked bodies: whatever the network cuts them into, the same are refused."""

from itertools import pairwise

import pytest
from gateway_server_fast.http1.chunked import (
    EXTENSION,
    FREE_CHUNKS,
    SHORTEST,
    TRAILERS,
    ChunkedBody,
)
from gateway_server_fast.http1.request_head import RefusedRequest
from hypothesis import given
from hypothesis import strategies as st

EXTENSIONS = st.sampled_from([b"", b";a=b", b" ;a", b";" + b"x" * 255])
GOOD = st.lists(st.tuples(st.binary(min_size=1, max_size=40), EXTENSIONS), max_size=6)
BAD = [
    b"zz\r\n",
    b"\r\n",
    b"000000001\r\nx\r\n",
    b"1\nx\r\n",
    b"1 \r\nx\r\n",
    b"-1\r\n",
    b"1;" + b"x" * EXTENSION + b"\r\nx\r\n",
    b"1;a\rb\r\nx\r\n",
    b"0\r\n" + b"A: b\r\n" * TRAILERS,
    b"f" * 1000,
]


def body_of(chunks: list[tuple[bytes, bytes]], trailers: bytes) -> bytes:
    lines = [b"%x%b\r\n%b\r\n" % (len(data), extra, data) for data, extra in chunks]
    return b"".join(lines) + b"0\r\n" + trailers + b"\r\n"


def is_refused(body: bytes, cuts: list[int]) -> bool:
    places = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    chunks = ChunkedBody()
    try:
        for begin, end in pairwise(places):
            chunks.feed(body[begin:end])
    except RefusedRequest:
        return True
    return False


@given(GOOD, st.sampled_from([b"", b"A: b\r\n"]), st.lists(st.integers(0, 2000), max_size=9))
def test_a_good_body_passes_however_it_is_cut(
    chunks: list[tuple[bytes, bytes]], trailers: bytes, cuts: list[int]
) -> None:
    assert not is_refused(body_of(chunks, trailers), cuts)


@given(GOOD, st.sampled_from(BAD), st.lists(st.integers(0, 2000), max_size=9))
def test_a_bad_line_is_found_however_it_is_cut(
    chunks: list[tuple[bytes, bytes]], bad: bytes, cuts: list[int]
) -> None:
    before = body_of(chunks, b"").removesuffix(b"0\r\n\r\n")

    assert is_refused(before + bad, cuts)


@pytest.mark.parametrize("after", [b"", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_follows_the_last_chunk_is_not_taken_for_a_chunk(after: bytes) -> None:
    assert not is_refused(b"0\r\n\r\n" + after, [])


@pytest.mark.parametrize(("size", "refused"), [(1, True), (SHORTEST - 1, True), (SHORTEST, False)])
def test_a_long_body_in_short_chunks_is_refused(size: int, refused: bool) -> None:
    chunk = (b"x" * size, b"")

    assert not is_refused(body_of([chunk] * FREE_CHUNKS, b""), [])
    assert is_refused(body_of([chunk] * (FREE_CHUNKS + 1), b""), []) is refused
