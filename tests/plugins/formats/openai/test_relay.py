"""Passing answers of this dialect through to clients that speak it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_openai import CHAT
from msgspec import Raw

from gateway_core import Call, Relay, ReplyFailed, Target, Usage, VendorSide
from gateway_formats.grammar import find_violation

CallWith = Callable[..., Call]
Aim = Callable[..., Target]

DONE = b"data: [DONE]\n\n"
ONE = b'data: {"id":"r","choices":[{"index":0,"delta":{"content":"ab"},"finish_reason":null}]}\n\n'
END = b'data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
COUNT = b'data: {"id":"r","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'


class Begin:
    """Begins a pass-through, and shows what became of the request's members."""

    def __init__(self, vendor: VendorSide, call: CallWith, aim: Aim) -> None:
        self.vendor, self.call, self.aim = vendor, call, aim

    def __call__(
        self,
        body: dict[str, Any] | None = None,
        *,
        stream: bool = True,
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> tuple[Relay, dict[str, Any]]:
        received = {"messages": [{"role": "user", "content": "hi"}], **(body or {})}
        if body and "input" in body:
            del received["messages"]
        call = self.call(received, stream=stream, headers=headers)
        members = msgspec.json.decode(call.body, type=dict[str, Raw])
        relay = self.vendor.relay(call, self.aim(**options), members)
        return relay, msgspec.json.decode(msgspec.json.encode(members))


@pytest.fixture
def begin(vendor: VendorSide, call: CallWith, aim: Aim) -> Begin:
    return Begin(vendor, call, aim)


def passed(relay: Relay, *frames: bytes) -> bytes:
    return b"".join(relay.feed(frame) for frame in frames) + relay.close()


def well_formed(written: bytes) -> bool:
    assert CHAT.grammar is not None
    return find_violation(CHAT.grammar, written) is None


def test_a_stream_passes_byte_for_byte(begin: Begin) -> None:
    relay, _ = begin({"stream_options": {"include_usage": True}})
    frames = b": hello\r\n\r\n" + ONE + END + COUNT + DONE

    assert passed(relay, frames[:30], frames[30:]) == frames
    assert relay.usage == Usage(input_tokens=3, output_tokens=2)
    assert (relay.started, relay.characters, relay.failure) == (True, 2, None)
    assert well_formed(frames)


def test_usage_is_always_asked_for_and_hidden_from_who_did_not_ask(begin: Begin) -> None:
    relay, members = begin({"stream_options": {"include_obfuscation": False}})

    assert members["stream_options"] == {"include_obfuscation": False, "include_usage": True}
    assert passed(relay, ONE + END + COUNT, DONE) == ONE + END + DONE
    assert relay.usage == Usage(input_tokens=3, output_tokens=2)


def test_usage_beside_choices_is_never_hidden(begin: Begin) -> None:
    relay, _ = begin()
    both = END.replace(b'"choices"', b'"usage":{"prompt_tokens":3},"choices"')

    assert passed(relay, ONE + both + DONE) == ONE + both + DONE
    assert relay.usage == Usage(input_tokens=3)


def test_a_vendor_that_refuses_stream_options_is_not_sent_any(begin: Begin) -> None:
    _, members = begin({"stream_options": {"include_usage": True}}, no_stream_usage=True)

    assert "stream_options" not in members


def test_a_whole_answer_is_not_asked_for_usage(begin: Begin) -> None:
    assert "stream_options" not in begin(stream=False)[1]


@pytest.mark.parametrize(
    ("output", "body", "expected"),
    [
        (True, {"max_completion_tokens": 5}, {"max_tokens": 5}),
        (False, {"max_tokens": 5}, {"max_completion_tokens": 5}),
        (True, {"max_tokens": 5, "max_completion_tokens": 6}, {"max_tokens": 5}),
        (None, {"max_completion_tokens": 5}, {"max_completion_tokens": 5}),
    ],
)
def test_the_limit_is_renamed_for_a_vendor_that_says_its_name(
    begin: Begin, output: bool | None, body: dict[str, int], expected: dict[str, int]
) -> None:
    options: dict[str, Any] = {} if output is None else {"max_tokens": output}

    _, members = begin(body, **options)

    assert {n: v for n, v in members.items() if n.startswith("max")} == expected


@pytest.mark.parametrize(
    ("wanted", "roles"),
    [(None, ["developer", "user"]), ("system", ["system", "user"])],
)
def test_instructions_get_the_role_the_vendor_says(
    begin: Begin, wanted: str | None, roles: list[str]
) -> None:
    messages = [
        {"role": "developer", "content": "a"},
        {"role": "user", "content": 'the "developer" role'},
    ]
    options: dict[str, Any] = {} if wanted is None else {"system_role": wanted}

    _, members = begin({"messages": messages}, **options)

    assert [message["role"] for message in members["messages"]] == roles
    assert members["messages"][1] == messages[1]


def test_input_is_spelled_out_as_messages(begin: Begin) -> None:
    output = [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]

    _, members = begin({"input": output})

    assert members["messages"] == [{"role": "user", "content": "hi"}]
    assert "input" not in members


def test_an_end_marker_that_the_vendor_left_out_is_added(begin: Begin) -> None:
    relay, _ = begin()

    assert passed(relay, ONE, END) == ONE + END + DONE
    assert relay.failure is None


def test_a_last_frame_without_its_blank_line_counts(begin: Begin) -> None:
    ended, _ = begin()
    marked, _ = begin()

    assert passed(ended, ONE + END[:-2]) == ONE + END + DONE
    assert passed(marked, ONE + END + DONE[:-2]) == ONE + END + DONE


def test_nothing_passes_after_the_end_marker(begin: Begin) -> None:
    relay, _ = begin()

    assert passed(relay, ONE + END + DONE + ONE, ONE) == ONE + END + DONE


@pytest.mark.parametrize(
    "frames",
    [ONE, b"", ONE + END.replace(b'"index":0', b'"index":1')],
    ids=["cut", "nothing", "one-choice-of-two"],
)
def test_a_stream_that_breaks_off_ends_with_an_error(begin: Begin, frames: bytes) -> None:
    relay, _ = begin()

    written = passed(relay, frames)

    assert relay.failure is not None
    assert written.startswith(frames)
    assert b"[DONE]" not in written
    assert well_formed(written)


@pytest.mark.parametrize("frames", [DONE, COUNT + DONE])
def test_an_end_without_an_answer_is_a_failure(begin: Begin, frames: bytes) -> None:
    relay, _ = begin()

    written = passed(relay, frames)

    assert relay.failure == ReplyFailed("The upstream gave an empty answer")
    assert well_formed(written)


def test_a_list_of_no_tools_is_not_sent(begin: Begin) -> None:
    _, members = begin({"tools": [], "tool_choice": "auto", "parallel_tool_calls": True})
    _, kept = begin({"tools": [{"type": "magic"}], "tool_choice": "auto"})

    assert not {"tools", "tool_choice", "parallel_tool_calls"} & members.keys()
    assert {"tools", "tool_choice"} <= kept.keys()


def test_rubbish_ends_the_stream_before_it(begin: Begin) -> None:
    relay, _ = begin()

    written = passed(relay, ONE + b"data: {\n\n" + ONE, DONE)

    assert written.startswith(ONE + b'data: {"error"')
    assert well_formed(written)
    assert isinstance(relay.failure, ReplyFailed)


@pytest.mark.parametrize(
    "frame",
    [
        b'event: error\ndata: {"error":{"message":"bad","type":"t","status_code":400}}\n\n',
        b'data: {"error":"bad"}\n\n',
        b'data: {"object":"error","message":"bad"}\n\n',
        b'data: {"choices":[{"index":0,"delta":{},"error":{"message":"bad"}}]}\n\n',
    ],
)
def test_a_vendors_error_becomes_our_error_frame(begin: Begin, frame: bytes) -> None:
    relay, _ = begin()

    written = passed(relay, ONE, frame, DONE)

    assert relay.failure is not None
    assert relay.failure.message == "bad"
    assert written.startswith(ONE + b'data: {"error":{"message":"bad"')
    assert well_formed(written)


def test_a_stream_can_be_ended_from_outside(begin: Begin) -> None:
    relay, _ = begin()

    written = relay.feed(ONE) + relay.fail(ReplyFailed("gone", status=504)) + relay.feed(END)

    assert written.startswith(ONE + b'data: {"error":{"message":"gone"')
    assert written.count(b"data:") == 2


@pytest.mark.parametrize(
    ("delta", "started", "length"),
    [
        ({"role": "assistant", "content": ""}, False, 0),
        ({"content": None}, False, 0),
        ({"content": "abc"}, True, 3),
        ({"reasoning_content": "abc", "reasoning": "abc"}, True, 3),
        ({"reasoning": "ab", "reasoning_details": [{"text": "ab"}]}, True, 2),
        ({"reasoning_details": [{"summary": "abcd"}]}, True, 4),
        ({"refusal": "No"}, True, 2),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "ab"}]}]},
            *(True, 2),
        ),
        ({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, True, 3),
        ({"tool_calls": [{"custom": {"name": "f", "input": "abc"}}]}, True, 4),
        ({"function_call": {"name": "f"}}, True, 1),
        ({"images": [{"image_url": {"url": "x"}}]}, True, 0),
        ({"audio": {"id": "a"}}, True, 0),
    ],
)
def test_an_answer_begins_with_its_first_real_content(
    begin: Begin, delta: dict[str, Any], started: bool, length: int
) -> None:
    relay, _ = begin()
    frame = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    relay.feed(b"data: %b\n\n" % msgspec.json.encode(frame))

    assert (relay.started, relay.characters) == (started, length)


def test_usage_of_a_vendor_with_a_member_of_its_own(begin: Begin) -> None:
    relay, _ = begin()
    last = END.replace(b'"choices"', b'"x_groq":{"usage":{"prompt_tokens":3}},"choices"')

    passed(relay, ONE + last + DONE)

    assert relay.usage == Usage(input_tokens=3)


WHOLE = (
    b'{"id":"r", "choices":[{"index":0,"message":{"role":"assistant","content":"ab",'
    b'"reasoning_content":"Hm."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}'
)


def test_a_whole_answer_passes_byte_for_byte(begin: Begin) -> None:
    relay, _ = begin(stream=False)

    assert passed(relay, WHOLE[:20], WHOLE[20:]) == WHOLE
    assert relay.usage == Usage(input_tokens=3)
    assert (relay.started, relay.characters) == (True, 5)


def test_a_header_hides_thinking_from_a_whole_answer_that_says_something(begin: Begin) -> None:
    quiet = {"x-gateway-reasoning": "off"}
    spoken, _ = begin(stream=False, headers=quiet)
    silent, _ = begin(stream=False, headers=quiet)
    only_thinking = WHOLE.replace(b'"content":"ab"', b'"content":null')

    message = msgspec.json.decode(passed(spoken, WHOLE))["choices"][0]["message"]

    assert message == {"role": "assistant", "content": "ab"}
    kept = msgspec.json.decode(passed(silent, only_thinking))["choices"][0]["message"]
    assert kept["reasoning_content"] == "Hm."


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b'{"error":{"message":"bad"}}', "bad"),
        (b'{"choices":[{"error":{"message":"bad"}}]}', "bad"),
        (b'{"choices":[]}', "The upstream gave an empty answer"),
        (b"<html>", "The upstream gave an answer that could not be read"),
    ],
)
def test_an_error_in_disguise_is_a_failure(begin: Begin, answer: bytes, message: str) -> None:
    relay, _ = begin(stream=False)

    assert passed(relay, answer) == b""
    assert relay.failure is not None
    assert relay.failure.message == message
