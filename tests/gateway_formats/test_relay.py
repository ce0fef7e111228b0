"""What passes through is always the beginning of a well-formed stream."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import ReplyFailed, UpstreamError, Usage
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT, StreamRelay, WholeRelay
from gateway_formats.sse import LIMIT

_number = msgspec.json.Decoder(int)
RUDE = UpstreamError("Sorry", status=503, kind="busy", retry_after=2.0)


class Watch:
    """Numbers pass, ``0`` is left out, negative ones are errors, ``9`` is the end."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = self.ended = False
        self.characters = 0

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        number = _number.decode(data)
        if number < 0:
            return ReplyFailed(f"failure {number}")
        self.started, self.ended = True, self.ended or number == 9
        self.characters += len(data)
        return number != 0

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return b"data: !%b\n\n" % failure.message.encode()


def frames(text: str) -> bytes:
    return b"".join(b"data: %d\n\n" % int(letter) for letter in text)


def error(message: str) -> bytes:
    return b"data: !%b\n\n" % message.encode()


def passed(relay: StreamRelay, *chunks: bytes) -> bytes:
    return b"".join(map(relay.feed, chunks)) + relay.close()


@given(st.text("12345678", max_size=8), st.integers(1, 9))
def test_a_sound_stream_passes_byte_for_byte(text: str, size: int) -> None:
    whole = b": hello\r\n\r\n" + frames(text + "9")
    chunks = [whole[start : start + size] for start in range(0, len(whole), size)]
    relay = StreamRelay(Watch())

    assert passed(relay, *chunks) == whole
    assert relay.failure is None
    assert (relay.started, relay.characters, relay.usage) == (True, len(text) + 1, None)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (frames("12"), frames("12") + error(CUT_SHORT)),
        (frames("1") + b"data: x\n\n" + frames("29"), frames("1") + error(UNREADABLE_EVENT)),
        (frames("1") + b"data: \xff\n\n", frames("1") + error(UNREADABLE_EVENT)),
        (frames("1") + b"data: -3\n\n" + frames("9"), frames("1") + error("failure -3")),
        (frames("1029"), frames("129")),
        (frames("102") + b"data: -1\n\n", frames("12") + error("failure -1")),
        (frames("1") + b"data: 9", frames("19")),
        (frames("1") + b"data: 9\n", b"data: 1\n\ndata: 9\n\n\n"),
        (b"", error(CUT_SHORT)),
    ],
    ids=["cut", "rubbish", "not text", "error", "left out", "both", "no end", "half end", "empty"],
)
def test_a_stream_ends_where_it_makes_no_sense(sent: bytes, expected: bytes) -> None:
    assert passed(StreamRelay(Watch()), sent) == expected


def test_nothing_follows_a_failure() -> None:
    relay = StreamRelay(Watch())

    assert relay.fail(ReplyFailed("Gone")) == error("Gone")
    assert relay.fail(ReplyFailed("Again")) == b""
    assert (relay.feed(frames("1")), relay.close()) == (b"", b"")
    assert relay.failure == ReplyFailed("Gone")


def test_a_stream_that_has_ended_cannot_fail() -> None:
    relay = StreamRelay(Watch())
    relay.feed(frames("9"))

    assert relay.fail(ReplyFailed("Gone")) == b""
    assert relay.failure is None


def test_a_frame_beyond_the_limit_is_a_failure() -> None:
    relay = StreamRelay(Watch())

    assert b"longer than" in relay.feed(bytes(LIMIT + 1))
    assert relay.failure is not None


def test_lines_pass_as_they_are() -> None:
    assert passed(StreamRelay(Watch(), lines_only=True), b"1\n2\r", b"\n9\n") == b"1\n2\r\n9\n"
    assert passed(StreamRelay(Watch(), lines_only=True), b"1\n0\n9") == b"1\n9\n"


def test_a_whole_answer_is_held_until_it_is_understood() -> None:
    relay = WholeRelay(lambda body: (Usage(input_tokens=1), len(body)))

    assert relay.feed(b"ab") + relay.feed(b"c") == b""
    assert not relay.started
    assert relay.close() == b"abc"
    assert (relay.started, relay.characters, relay.usage) == (True, 3, Usage(input_tokens=1))


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (RUDE, "Sorry"),
        (msgspec.DecodeError("no"), "The upstream gave an answer that could not be read"),
        (RecursionError(), "The upstream gave an answer that could not be read"),
    ],
    ids=["error", "rubbish", "depth"],
)
def test_an_answer_that_is_none_is_a_failure(trouble: Exception, message: str) -> None:
    def read(body: bytes) -> tuple[Usage | None, int]:
        raise trouble

    relay = WholeRelay(read)
    relay.feed(b"x")

    assert relay.close() == b""
    assert relay.failure is not None
    assert relay.failure.message == message
    assert not relay.started


def test_a_whole_answer_that_breaks_off_gives_no_bytes() -> None:
    relay = WholeRelay(lambda body: (None, 0))

    assert relay.fail(ReplyFailed("Gone")) == b""
    assert relay.failure == ReplyFailed("Gone")
