"""An answer of one text is read in one step, and means what it means read as a stream is."""

from typing import Any

import msgspec
import pytest
from gateway_format_openai.vendor_replies import _read_any
from gateway_format_openai.vendor_replies_plain import read_plain
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import Reply, UpstreamError

MESSAGE = {"role": "assistant", "content": "hi", "refusal": None, "annotations": []}
CHOICE = {"index": 0, "message": MESSAGE, "logprobs": None, "finish_reason": "stop"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 7,
    "model": "m",
    "choices": [CHOICE],
    "usage": USAGE,
    "service_tier": "default",
    "system_fingerprint": "fp",
}

MORE = ("tool_calls", "reasoning", "stop_reason", "error", "x")

odd = st.sampled_from([None, "", "a", 0, 1, -1, 1.0, 1.5, True, [], ["a"], {}, {"a": 1}])


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """An answer of which a few members are gone, or something else."""
    message, choice, usage, answer = dict(MESSAGE), dict(CHOICE), dict(USAGE), dict(ANSWER)
    choice["message"], answer["choices"], answer["usage"] = message, [choice], usage
    message["content"] = draw(st.sampled_from(["hi", "hi", "é\n", "", None]))
    choice["finish_reason"] = draw(st.sampled_from(["stop", "length", "STOP", "error", "odd", ""]))
    for _ in range(draw(st.integers(0, 3))):
        held: dict[str, Any] = draw(st.sampled_from([message, choice, usage, answer]))
        name = draw(
            st.sampled_from([*held, "tool_calls", "reasoning", "stop_reason", "error", "x"])
        )
        if draw(st.booleans()):
            held.pop(name, None)
        else:
            held[name] = draw(odd)
    return msgspec.json.encode(answer)


def slowly(body: bytes) -> Reply | str:
    try:
        return _read_any(body)
    except UpstreamError as error:
        return str(error)


@given(answers())
def test_the_quick_way_reads_what_the_slow_way_reads(body: bytes) -> None:
    quick = read_plain(body)

    assert quick is None or quick == slowly(body)


def test_the_usual_answer_goes_the_quick_way() -> None:
    reply = read_plain(msgspec.json.encode(ANSWER))

    assert reply is not None
    assert list(reply.extra) == ["service_tier", "system_fingerprint"]


@pytest.mark.parametrize("member", ["system_fingerprint", "service_tier"])
@pytest.mark.parametrize(
    "value", [b'"\xff"', b'{"a":"\xff"}', b"1e999"], ids=["text", "nested", "number"]
)
def test_what_cannot_be_read_does_not_reach_the_client(member: str, value: bytes) -> None:
    body = msgspec.json.encode({**ANSWER, member: "?"}).replace(b'"?"', value)

    assert read_plain(body) is None
    assert slowly(body) == "The upstream gave an answer that could not be read"


@pytest.mark.parametrize(
    "message",
    [{"content": ""}, {"content": None}, {"tool_calls": [{}]}, {"reasoning": "r"}, {"x": None}],
)
def test_more_than_a_text_is_left_to_the_slow_way(message: dict[str, Any]) -> None:
    choice = {**CHOICE, "message": {**MESSAGE, **message}}

    assert read_plain(msgspec.json.encode({**ANSWER, "choices": [choice]})) is None
