"""Decoding bodies a piece at a time, however they come."""

import itertools

import pytest
from body_packers import PACKERS, pack_raw, pack_stream
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.upstream.content_codings import INFLATERS, BodyDecoder, MalformedCoding

SLACK = 64 * 1024
"""What a library may give beyond what it was asked for."""
codings = pytest.mark.parametrize("coding", PACKERS)


def decode(decoder: BodyDecoder, *pieces: bytes, most: int = 2**20) -> bytes:
    plain = b""
    for piece in pieces:
        decoder.feed(piece)
        while given := decoder.take(most):
            plain += given
    return plain


@codings
@given(plain=st.binary(max_size=300), cuts=st.lists(st.integers(0, 400), max_size=4))
def test_a_body_is_the_same_however_it_is_cut(coding: str, plain: bytes, cuts: list[int]) -> None:
    packed, decoder = PACKERS[coding](plain), BodyDecoder(coding)
    edges = [0, *sorted(cuts), len(packed)]

    pieces = [packed[begin:end] for begin, end in itertools.pairwise(edges)]

    assert decode(decoder, *pieces) == plain
    assert decoder.is_whole


@codings
def test_each_piece_of_a_stream_is_there_at_once(coding: str) -> None:
    words = [b"one ", b"two ", b"three"]
    decoder = BodyDecoder(coding)
    *pieces, end = pack_stream(coding, words)

    assert [decode(decoder, piece) for piece in pieces] == words
    assert not decoder.is_whole
    assert decode(decoder, end) == b""
    assert decoder.is_whole


@codings
def test_no_more_is_given_than_was_asked_for(coding: str) -> None:
    decoder = BodyDecoder(coding)
    decoder.feed(PACKERS[coding](bytes(10_000_000)))
    sizes = []

    while piece := decoder.take(SLACK):
        sizes.append(len(piece))

    assert sum(sizes) == 10_000_000
    assert max(sizes) <= 2 * SLACK


@codings
def test_a_cut_body_is_not_whole(coding: str) -> None:
    decoder = BodyDecoder(coding)

    decode(decoder, PACKERS[coding](b"hello " * 100)[:-2])

    assert not decoder.is_whole


@codings
def test_rubbish_is_refused(coding: str) -> None:
    with pytest.raises(MalformedCoding):
        decode(BodyDecoder(coding), b"\xff\xfe no " * 99)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_streams_may_follow_each_other(coding: str) -> None:
    pack, decoder = PACKERS[coding], BodyDecoder(coding)

    assert decode(decoder, pack(b"one ") + pack(b"two "), pack(b"three")) == b"one two three"
    assert decoder.is_whole


def test_deflate_may_lack_its_header() -> None:
    decoder = BodyDecoder("deflate")

    assert decode(decoder, pack_raw(b"hello")) == b"hello"
    assert decoder.is_whole


def test_nothing_at_all_is_whole() -> None:
    assert BodyDecoder("gzip").is_whole


def test_names_are_those_of_the_registry() -> None:
    assert set(INFLATERS) == {"gzip", "x-gzip", "deflate", "br", "zstd"}
