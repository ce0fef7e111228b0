"""Answers that pass through in their own format."""

import pytest
from gateway_format_ollama import OLLAMA

from gateway_core import Call, Kind, Relay, ReplyFailed, Target, Usage, VendorSide
from gateway_formats.grammar import find_violation

LINE = b'{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}\n'
EMPTY = b'{"model":"m","message":{"role":"assistant","content":""},"done":false}\n'
LAST = (
    b'{"model":"m","message":{"role":"assistant","content":""},"done":true,'
    b'"prompt_eval_count":3,"eval_count":4}\n'
)


@pytest.fixture
def relay(vendor: VendorSide, target: Target) -> Relay:
    call = Call(kind=Kind.LLM, format="ollama", model="m", stream=True, body=b"{}")
    return vendor.relay(call, target, {})


@pytest.fixture
def whole(vendor: VendorSide, target: Target) -> Relay:
    call = Call(kind=Kind.LLM, format="ollama", model="m", stream=False, body=b"{}")
    return vendor.relay(call, target, {})


def well_formed(stream: bytes) -> bool:
    assert OLLAMA.grammar is not None
    return find_violation(OLLAMA.grammar, stream) is None


def test_what_passes_is_counted(relay: Relay) -> None:
    assert relay.feed(EMPTY) == EMPTY
    assert not relay.started
    assert relay.feed(LINE[:20]) == b""
    assert relay.feed(LINE[20:] + LAST) == LINE + LAST

    assert relay.close() == b""
    assert relay.started
    assert relay.characters == 5
    assert relay.usage == Usage(input_tokens=3, output_tokens=4)
    assert relay.failure is None


def test_a_client_side_splitter_is_escaped_on_the_way(relay: Relay) -> None:
    line = LINE.replace(b"Hello", "a\u2028b\x85".encode())

    passed = relay.feed(line + LAST)

    assert (
        passed
        == line.replace("\u2028".encode(), b"\\u2028").replace("\x85".encode(), b"\\u0085") + LAST
    )
    assert well_formed(passed)


def test_blank_lines_do_not_pass(relay: Relay) -> None:
    passed = relay.feed(b"\r\n" + LINE + b"\n") + relay.feed(b"\n" + LAST) + relay.close()

    assert passed == LINE + LAST


def test_what_follows_the_end_is_left_out(relay: Relay) -> None:
    passed = relay.feed(LINE + LAST + LINE) + relay.feed(LINE) + relay.close()

    assert passed == LINE + LAST


def test_a_last_line_may_lack_its_newline(relay: Relay) -> None:
    passed = relay.feed(LINE + LAST[:-1]) + relay.close()

    assert passed == LINE + LAST
    assert relay.failure is None


@pytest.mark.parametrize(
    "tail",
    [b"", b'{"error":"fell over"}\n', b"rubbish\n", b"{}\n", b'{"message":{"content":"a"}}\n'],
)
def test_a_broken_stream_ends_with_an_error(relay: Relay, tail: bytes) -> None:
    passed = relay.feed(LINE + tail) + relay.close()

    assert passed.startswith(LINE + b'{"error":"')
    assert well_formed(passed)
    assert relay.failure is not None


def test_the_vendors_own_error_is_passed_on_in_its_words(relay: Relay) -> None:
    passed = relay.feed(b'{"error":"fell over","status_code":503}\n')

    assert passed == b'{"error":"fell over"}\n'
    assert relay.failure == ReplyFailed("fell over", status=503)


def test_failing_from_outside_ends_the_stream_once(relay: Relay) -> None:
    relay.feed(LINE)

    assert relay.fail(ReplyFailed("gone")) == b'{"error":"gone"}\n'
    assert relay.fail(ReplyFailed("gone")) == relay.feed(LINE) == relay.close() == b""


def test_pictures_and_calls_count_as_an_answer(relay: Relay) -> None:
    relay.feed(EMPTY.replace(b'"content":""', b'"tool_calls":[{"function":{"name":"f"}}]'))

    assert relay.started


@pytest.mark.parametrize("body", [b'{"error":"no"}', b"rubbish", b"{}", b""])
def test_a_whole_answer_that_is_none_fails(whole: Relay, body: bytes) -> None:
    whole.feed(body)

    assert whole.close() == b""
    assert whole.failure is not None


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        LINE,
        LAST + LAST,
        LAST[:-1],
        LINE + b"\n" + LAST,
        LAST + b'{"error":"late"}\n',
        LINE.replace(b"Hello", "a\u2028".encode()) + LAST,
        b'{"error":"a"}\n{"error":"b"}\n',
        b'{"model":"m","done":true}\n',
    ],
)
def test_the_grammar_refuses_what_is_no_stream(stream: bytes) -> None:
    assert not well_formed(stream)
