"""What is nothing but words is read and written in one step, and comes out just the same."""

from typing import Any

import msgspec
import pytest
from gateway_format_gemini.vendor_replies.plain_replies import read_plain
from gateway_format_gemini.vendor_replies.reply import _read_any, read_whole
from gateway_format_gemini.vendor_requests.contents import Contents, plain_contents
from gateway_format_gemini.vendor_requests.target import aim_at
from hypothesis import given
from hypothesis import strategies as st
from pictures import provider, target

from gateway_core import Conversation, Losses, Model, Reply, Text, Turn, UpstreamError

CANDIDATE = {
    "content": {"parts": [{"text": "hi"}], "role": "model"},
    "finishReason": "STOP",
    "index": 0,
}
COUNTS = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
ANSWER: dict[str, Any] = {
    "candidates": [CANDIDATE],
    "usageMetadata": COUNTS,
    "modelVersion": "m",
    "responseId": "r",
    "createTime": "2026-01-01T00:00:00Z",
}
MORE = ("thoughtSignature", "safetyRatings", "groundingMetadata", "promptFeedback", "error", "x")

odd = st.sampled_from([None, "", "a", 0, 1, True, [], {}, {"a": 1}])


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """An answer of which a few members are gone, or something else."""
    part = {"text": draw(st.sampled_from(["hi", "é\n", "", None]))}
    reason = draw(st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "odd", 1]))
    candidate: dict[str, Any] = {
        **CANDIDATE,
        "content": {"parts": [part], "role": "model"},
        "finishReason": reason,
    }
    answer = {**ANSWER, "candidates": [candidate]}
    for _ in range(draw(st.integers(0, 3))):
        held: dict[str, Any] = draw(st.sampled_from([part, candidate, answer]))
        name = draw(st.sampled_from([*held, *MORE]))
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
def test_an_answer_of_one_text_is_read_as_any_other(body: bytes) -> None:
    quick = read_plain(body)

    slow = slowly(body) if quick is not None else None
    assert msgspec.json.encode(quick) == msgspec.json.encode(slow)


def test_the_usual_answer_goes_the_quick_way() -> None:
    assert read_plain(msgspec.json.encode(ANSWER)) is not None


@pytest.mark.parametrize(
    "part", [{"text": ""}, {"text": "a", "thought": True}, {"text": "a", "thoughtSignature": "s"}]
)
def test_more_than_a_text_is_left_to_the_slow_way(part: dict[str, Any]) -> None:
    candidate = {**CANDIDATE, "content": {"parts": [part]}}

    assert read_plain(msgspec.json.encode({**ANSWER, "candidates": [candidate]})) is None


def test_counts_that_cannot_be_read_are_told_as_an_answer_that_cannot() -> None:
    body = msgspec.json.encode({**ANSWER, "usageMetadata": {"promptTokenCount": "?"}})
    spoilt = body.replace(b"?", b"\xff")

    with pytest.raises(UpstreamError, match="could not be read"):
        read_whole(spoilt)


texts = st.builds(
    lambda text, cache, signature: Text(text=text, cache=cache, signature=signature),
    st.sampled_from(["a", "b c", "", " "]),
    st.sampled_from([None, None, None, "5m"]),
    st.sampled_from([None, None, None, "s"]),
)
turns = st.builds(
    lambda role, said, name: Turn(role, tuple(said), name),
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(texts, max_size=2),
    st.sampled_from([None, None, None, "n"]),
)
alternating = st.lists(st.sampled_from(["a", "ü"]), min_size=1, max_size=5).map(
    lambda said: [
        Turn("assistant" if index % 2 else "user", (Text(text=text),))
        for index, text in enumerate(said)
    ]
)


@given(alternating | st.lists(turns, max_size=4), st.sampled_from(["", "gemini"]))
def test_turns_of_words_are_written_as_any_others(said: list[Turn], dialect: str) -> None:
    losses = Losses()
    conversation = Conversation(turns=tuple(said), dialect=dialect)
    aim = aim_at(target(provider("acme"), Model("gemini-3-pro")), conversation, losses)

    quick = plain_contents(said)

    slow = Contents(aim)._gathered(conversation)
    assert not quick or (quick, bool(losses)) == (slow, False)


@given(alternating)
def test_turns_that_alternate_go_the_quick_way(said: list[Turn]) -> None:
    assert plain_contents(said)
