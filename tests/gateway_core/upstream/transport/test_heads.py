"""The request's head: what goes in, what is left out, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import Lasting
from gateway_core.upstream.transport.failures import MalformedRequest
from gateway_core.upstream.transport.heads import OWN, write_head
from gateway_core.upstream.transport.urls import parse

LINE = parse("http://a.test/x").line
START = b"POST /x HTTP/1.1\r\nhost: a.test\r\n"


def written(headers, method="POST", length=0):
    return write_head(method, LINE, headers, length)


def test_fields_stand_in_their_order_between_host_and_length():
    head = written({"b": "2", "a": "1"}, length=7)

    assert head == START + (
        b"b: 2\r\na: 1\r\nuser-agent: model-gateway\r\naccept-encoding: identity\r\n"
        b"content-length: 7\r\n\r\n"
    )


def test_a_callers_encoding_and_name_stand():
    assert b"identity" not in written({"accept-encoding": "gzip"})
    assert b"model-gateway" not in written({"user-agent": "acme/1"})


@pytest.mark.parametrize("name", sorted(OWN))
def test_framing_is_the_transports_own(name):
    plain = written({})

    assert written({name: "x"}) == plain
    assert written({name.title(): "x"}) == plain


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
def test_no_length_is_announced_where_no_body_is_expected(method):
    assert b"content-length" not in written({}, method=method)
    assert b"content-length: 2\r\n" in written({}, method=method, length=2)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_an_empty_body_is_announced_where_one_is_expected(method):
    assert b"content-length: 0\r\n" in written({}, method=method)


@pytest.mark.parametrize("method", ["", "CONNECT", "TRACE", "GET ", "GE T", "GET\r\n", "GÉT"])
def test_a_doubtful_method_is_refused(method):
    with pytest.raises(MalformedRequest):
        written({}, method=method)


@pytest.mark.parametrize("name", ["", " ", "a b", "a:", ":a", "a\r\nb", "a\n", "ä", "a\0", "(a)"])
def test_a_doubtful_name_is_refused(name):
    with pytest.raises(MalformedRequest):
        written({name: "x"})


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\rb", "a\nb", "a\0b", "\x1b[0m", "\x7f", "日本"])
def test_a_doubtful_value_is_refused(value):
    with pytest.raises(MalformedRequest) as caught:
        written({"a": value})

    assert caught.value.sent is False


@pytest.mark.parametrize("value", ["", "a\tb", "grün", "\xa0", 'a, b; c="d"'])
def test_an_unusual_value_is_sent(value):
    assert f"a: {value}\r\n".encode("latin-1") in written({"a": value})


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=5))
def test_no_header_adds_a_line_of_its_own(headers):
    try:
        head = written(headers)
    except MalformedRequest:
        return

    sent = [name for name in headers if name.lower() not in OWN]
    own = 3 + ("accept-encoding" not in headers) + ("user-agent" not in headers)
    assert head.count(b"\n") == head.count(b"\r") == len(sent) + own + 1
    assert head.endswith(b"\r\n\r\n")


def test_shared_fields_are_written_as_others_are_whatever_was_asked_before():
    fields = {"b": "2", "authorization": "Bearer x"}
    lasting = Lasting(fields)
    lines = (LINE, parse("http://b.test/y?z").line)

    for line in (*lines, *lines):
        for method in ("POST", "GET", "POST"):
            for length in (0, 7):
                plain = write_head(method, line, fields, length)
                assert write_head(method, line, lasting, length) == plain
