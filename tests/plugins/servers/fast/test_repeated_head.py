"""Heads that come again: what is read from memory is what the parser would have read."""

from typing import Any

import httptools
from gateway_server_fast.http1.repeated_head import RepeatableHead, find_repeatable
from hypothesis import example, given
from hypothesis import strategies as st

from gateway_core.contracts.asgi import REPEATED_HEAD

HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: %b\r\n"
    b"Authorization: Bearer sk-1\r\n\r\n"
)
SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "http_version": "1.1", "path": "/"}


class Parsed:
    """What the parser reads in some bytes: whole requests, and whether more was begun."""

    def __init__(self, data: bytes) -> None:
        self.requests: list[tuple[list[tuple[bytes, bytes]], bytes]] = []
        self.is_open = False
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.is_open = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.requests.append((self.headers, self.body))
        self.is_open = False


def learned(data: bytes) -> RepeatableHead | None:
    headers = Parsed(data).requests[0][0]
    scope: dict[str, Any] = {**SCOPE, "headers": headers}
    return find_repeatable(data, headers, scope)


def request(body: bytes, head: bytes = HEAD) -> bytes:
    return head % str(len(body)).encode() + body


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_another_body_under_the_same_head_is_read_as_the_parser_would(
    first: bytes, second: bytes
) -> None:
    known = learned(request(first))
    assert known is not None

    body = known.match(request(second))

    scope = known.scope()
    assert [(scope["headers"], body)] == Parsed(request(second)).requests
    assert scope["state"] == {}
    assert scope[REPEATED_HEAD].length == str(len(second)).encode()


@given(st.binary(max_size=40), st.integers(0, 250), st.binary(max_size=6), st.integers(0, 6))
@example(b"{}", len(HEAD), b"POST / HTTP/1.1\r\n", 0)
def test_what_is_not_one_whole_request_with_that_head_is_left_to_the_parser(
    body: bytes, place: int, inserted: bytes, removed: int
) -> None:
    known = learned(request(b"{}"))
    assert known is not None
    whole = request(body)
    changed = whole[:place] + inserted + whole[place + removed :]

    found = known.match(changed)

    if found is not None:
        parsed = Parsed(changed)
        assert [(known.scope()["headers"], found)] == parsed.requests
        assert not parsed.is_open


def test_a_request_that_is_cut_or_followed_by_another_is_left_to_the_parser() -> None:
    known = learned(request(b"{}"))
    assert known is not None
    whole = request(b'{"a":1}')

    assert [known.match(whole[:cut]) for cut in range(len(whole))] == [None] * len(whole)
    assert known.match(whole + b"P") is None
    assert known.match(whole + whole) is None


def test_how_much_is_missing_of_a_body_is_told() -> None:
    known = learned(request(b"{}"))
    assert known is not None
    whole = request(b'{"a":1}')
    head = len(whole) - len(b'{"a":1}')

    lacking = [(known.match(whole[:cut]), known.missing)[1] for cut in range(len(whole) + 1)]

    assert lacking == [0] * head + [7, 6, 5, 4, 3, 2, 1, 0]
    assert known.match(whole + b"POST") is None
    assert known.missing == -4


def test_a_length_that_is_no_plain_number_is_left_to_the_parser() -> None:
    known = learned(request(b"{}"))
    assert known is not None

    for length in (b"", b"+2", b"-2", b" 2", b"2 ", b"0x2", b"2,2", "٢".encode(), b"0" * 40 + b"2"):
        assert known.match(HEAD % length + b"{}") is None


def test_heads_that_say_more_than_a_length_are_read_each_time() -> None:
    for line in (
        b"Transfer-Encoding: chunked",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"Connection: close",
        b"Connection: keep-alive, upgrade",
    ):
        head = HEAD.replace(b"Host:", line + b"\r\nHost:")
        headers = [(b"content-length", b"2"), tuple(line.lower().split(b": "))]
        scope: dict[str, Any] = {**SCOPE, "headers": headers}
        assert find_repeatable(head % b"2" + b"{}", headers, scope) is None


def test_a_head_without_a_length_or_of_an_older_protocol_is_read_each_time() -> None:
    plain: list[tuple[bytes, bytes]] = [(b"host", b"gateway")]
    sized = [*plain, (b"content-length", b"2")]

    assert find_repeatable(b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n", plain, SCOPE) is None
    assert find_repeatable(request(b"{}"), sized, {**SCOPE, "http_version": "1.0"}) is None


def test_a_head_that_did_not_come_whole_or_is_large_is_read_each_time() -> None:
    headers = [(b"content-length", b"2")]
    long = HEAD.replace(b"sk-1", b"k" * 9000) % b"2"

    assert find_repeatable(request(b"{}")[:50], headers, SCOPE) is None
    assert find_repeatable(long, headers, SCOPE) is None


def test_a_head_whose_answer_has_no_body_is_read_each_time() -> None:
    headers = [(b"content-length", b"2")]

    assert find_repeatable(request(b"{}"), headers, {**SCOPE, "method": "HEAD"}) is None
