"""The reader alone: every framing, every cut, every kind of rubbish."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.transport.answers import UpstreamAnswer
from gateway_core.upstream.transport.reading import Reader

OK = b"HTTP/1.1 200 OK\r\n"


class Nowhere:
    """A connection that is never asked for more."""

    async def more(self, answer):
        raise AssertionError("nothing waits here")

    def resume(self):
        pass

    def drop(self, answer):
        pass


def read(*pieces, bodiless=False):
    """Feed the pieces of one answer; what is left is ``(reader, answer)``."""
    reader, answer = Reader(), UpstreamAnswer(Nowhere())
    reader.begin(answer, bodiless=bodiless)
    for piece in pieces:
        reader.feed(piece, answer)
    return reader, answer


def body_of(answer):
    return b"".join(answer.chunks)


WHOLE = {
    "length": (OK + b"content-length: 5\r\n\r\nhello", 200, b"hello"),
    "empty": (OK + b"content-length: 0\r\n\r\n", 200, b""),
    "chunked": (
        OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        200,
        b"hello",
    ),
    "chunked with extension and trailer": (
        OK + b"Transfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n",
        200,
        b"hello",
    ),
    "interim": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        + OK
        + b"content-length: 5\r\n\r\nhello",
        200,
        b"hello",
    ),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n", 304, b""),
    "no reason": (b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
    "old version": (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
    "closing": (OK + b"connection: close\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
}


@pytest.mark.parametrize(("data", "status", "body"), WHOLE.values(), ids=WHOLE)
def test_an_answer_is_the_same_however_it_is_cut(data, status, body):
    for cut in range(len(data) + 1):
        reader, answer = read(data[:cut], data[cut:])
        assert (reader.complete, answer.status, body_of(answer)) == (True, status, body)
    reader, answer = read(*(data[at : at + 1] for at in range(len(data))))
    assert (reader.complete, answer.status, body_of(answer)) == (True, status, body)


@given(st.sampled_from(sorted(WHOLE)), st.lists(st.integers(0, 200), max_size=6))
def test_an_answer_is_the_same_in_any_pieces(name, cuts):
    data, status, body = WHOLE[name]
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(edges)]

    reader, answer = read(*pieces)

    assert (reader.complete, answer.status, body_of(answer)) == (True, status, body)


@pytest.mark.parametrize(("data", "status", "body"), WHOLE.values(), ids=WHOLE)
def test_no_beginning_of_an_answer_is_complete(data, status, body):
    for cut in range(len(data)):
        assert not read(data[:cut])[0].complete


def test_a_body_without_framing_lasts_until_the_connection_ends():
    reader, answer = read(OK + b"\r\nhello", b" world")

    assert (reader.complete, reader.until_close, reader.reusable) == (False, True, False)
    assert body_of(answer) == b"hello world"


@pytest.mark.parametrize("name", ["length", "chunked", "empty", "interim", "not modified"])
def test_the_connection_may_be_kept_after_a_framed_answer(name):
    assert read(WHOLE[name][0])[0].reusable


@pytest.mark.parametrize("name", ["old version", "closing"])
def test_the_connection_may_not_be_kept_against_the_servers_word(name):
    assert not read(WHOLE[name][0])[0].reusable


def test_one_reader_reads_one_answer_after_another():
    reader = Reader()
    for name in ("length", "chunked", "interim", "no content", "length"):
        data, status, body = WHOLE[name]
        answer = UpstreamAnswer(Nowhere())
        reader.begin(answer, bodiless=False)
        reader.feed(data, answer)
        assert (reader.complete, answer.status, body_of(answer)) == (True, status, body)


def test_the_answer_to_head_ends_with_its_head():
    reader, answer = read(OK + b"content-length: 5\r\n\r\n", bodiless=True)

    assert (reader.complete, reader.reusable, body_of(answer)) == (True, False, b"")


@pytest.mark.parametrize(
    "extra", [b"EXTRA", OK, OK + b"content-length: 1\r\n\r\nx"], ids=["rubbish", "part", "whole"]
)
def test_what_follows_a_whole_answer_spoils_the_connection_but_not_the_answer(extra):
    reader, answer = read(OK + b"content-length: 2\r\n\r\nhi" + extra)

    assert (reader.complete, reader.reusable) == (True, False)
    assert (answer.status, body_of(answer)) == (200, b"hi")


RUBBISH = {
    "no http": b"hello, world\r\n\r\n",
    "half a greeting": b"HTTP/1.1 2x0 OK\r\n\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "version two": b"HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n",
    "version zero": b"HTTP/0.9 200 OK\r\ncontent-length: 0\r\n\r\n",
    "status too small": b"HTTP/1.1 099 OK\r\ncontent-length: 0\r\n\r\n",
    "status too long": b"HTTP/1.1 2000 OK\r\n\r\n",
    "switching": b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc",
    "switching without a word": b"HTTP/1.1 101 Switching\r\n\r\n" + OK + b"\r\n",
    "interim with a body": b"HTTP/1.1 104 Odd\r\ncontent-length: 2\r\n\r\nab" + OK + b"\r\n",
    "interim in chunks": b"HTTP/1.1 104 Odd\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": b"HTTP/1.1 200 OK\ncontent-length: 0\n\n",
    "folded field": OK + b"a: b\r\n c\r\n\r\n",
    "nul in a field": OK + b"a: b\0c\r\n\r\n",
    "space in a name": OK + b"a b: c\r\n\r\n",
    "space before colon": OK + b"a : c\r\n\r\n",
    "two lengths": OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
    "the same length twice": OK + b"content-length: 5\r\ncontent-length: 5\r\n\r\n",
    "list of lengths": OK + b"content-length: 5, 5\r\n\r\n",
    "signed length": OK + b"content-length: +5\r\n\r\n",
    "hexadecimal length": OK + b"content-length: 0x5\r\n\r\n",
    "huge length": OK + b"content-length: 99999999999999999999999\r\n\r\n",
    "length and coding": OK + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    "coding and length": OK + b"transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n",
    "other coding": OK + b"transfer-encoding: gzip\r\n\r\n",
    "two codings": OK + b"transfer-encoding: gzip, chunked\r\n\r\n",
    "chunked twice": OK + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
    "chunk size": OK + b"transfer-encoding: chunked\r\n\r\nxyz\r\n",
    "negative chunk": OK + b"transfer-encoding: chunked\r\n\r\n-1\r\n",
    "huge chunk": OK + b"transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "chunk end": OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhiXX",
    "no chunk size": OK + b"transfer-encoding: chunked\r\n\r\n\r\n",
}


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
def test_rubbish_is_refused_however_it_is_cut(data):
    for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
        with pytest.raises(TransportError, match="not valid HTTP") as caught:
            read(*pieces)
        assert (caught.value.status, caught.value.sent) == (502, True)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_transport_error(data):
    try:
        _, answer = read(data)
    except TransportError:
        return
    assert answer.status == 0 or data.startswith((b"HTTP/", b"\r\n"))


@given(st.binary(max_size=200))
def test_no_bytes_behind_a_head_raise_anything_but_a_transport_error(data):
    try:
        _, answer = read(OK + b"transfer-encoding: chunked\r\n\r\n", data)
    except TransportError:
        return
    assert len(body_of(answer)) <= len(data)


HUGE_HEADS = {
    "one field": OK + b"a: " + b"x" * 70_000,
    "many fields": OK + b"".join(b"a%d: %b\r\n" % (n, b"x" * 300) for n in range(250)) + b"\r\n",
    "too many fields": OK + b"".join(b"a%d: x\r\n" % n for n in range(257)) + b"\r\n",
    "reason": b"HTTP/1.1 200 " + b"x" * 70_000,
    "interim answers": b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" * 2500,
}


@pytest.mark.parametrize("size", [1000, 300_000], ids=["in pieces", "at once"])
@pytest.mark.parametrize("data", HUGE_HEADS.values(), ids=HUGE_HEADS)
def test_oversized_heads_are_refused(data, size):
    with pytest.raises(TransportError, match="head of the provider's answer is too large"):
        read(*(data[at : at + size] for at in range(0, len(data), size)))


def test_a_head_within_its_limits_is_taken_although_a_large_body_came_with_it():
    fields = b"".join(b"a%d: %b\r\n" % (n, b"x" * 200) for n in range(255))
    body = b"y" * 200_000

    reader, answer = read(OK + fields + b"content-length: 200000\r\n\r\n" + body)

    assert reader.complete
    assert len(answer.headers) == 256
    assert body_of(answer) == body


@pytest.mark.parametrize(
    "endless",
    [b"0\r\n" + b"x-y: z\r\n" * 20_000, b"5;" + b"e" * 100_000, b"0\r\nx: " + b"z" * 100_000],
    ids=["trailers", "extension", "one trailer"],
)
def test_bytes_that_never_become_a_body_are_limited(endless):
    head = OK + b"transfer-encoding: chunked\r\n\r\n"

    with pytest.raises(TransportError, match="not valid HTTP"):
        read(head, *(endless[at : at + 1000] for at in range(0, len(endless), 1000)))


def test_a_long_stream_of_small_pieces_is_not_taken_for_that():
    head = OK + b"transfer-encoding: chunked\r\n\r\n"
    # Each size comes on its own, as from a server that writes it first.
    pieces = [piece for _ in range(30_000) for piece in (b"1\r\n", b"x\r\n")]

    reader, answer = read(head, *pieces, b"0\r\n\r\n")

    assert reader.complete
    assert body_of(answer) == b"x" * 30_000


def test_trailers_are_dropped():
    _, answer = read(WHOLE["chunked with extension and trailer"][0])

    assert dict(answer.headers) == {"transfer-encoding": "Chunked"}
