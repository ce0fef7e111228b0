"""A request of nothing but words is read in one step, and means what it means read bit by bit."""

from typing import Any

import msgspec
import pytest
from gateway_format_claude._members import top
from gateway_format_claude.client_requests.plain_turns import read_plain
from gateway_format_claude.client_requests.request import (
    _leading_instructions,
    _turns,
    read_request,
)
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from pictures import call

from gateway_core import BadRequest, Call, Conversation, Text, Turn

words = st.sampled_from(["a", "b c", "ü", " ", ""])
blocks = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": words}), max_size=3)
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "user", "assistant", "system"]),
        "content": words | blocks,
    }
)
numbers = st.sampled_from([None, 1, 0.5, -1, "a", True])
members = st.fixed_dictionaries(
    {"messages": st.lists(messages, max_size=4)},
    optional={
        "model": st.sampled_from(["m", None, 1]),
        "system": words | blocks,
        "stream": st.sampled_from([True, False, None, 1]),
        "max_tokens": numbers,
        "temperature": numbers,
        "top_p": numbers,
        "top_k": numbers,
        "stop_sequences": st.sampled_from([["a"], [], None, [1]]),
    },
)


def asked(body: dict[str, Any]) -> Call:
    return call(members={name: Raw(msgspec.json.encode(value)) for name, value in body.items()})


def read(body: dict[str, Any]) -> Conversation | str:
    try:
        return read_request(asked(body))
    except BadRequest as error:
        return str(error)


@given(members)
def test_the_quick_way_reads_what_the_slow_way_reads(body: dict[str, Any]) -> None:
    assert read(body) == read({**body, "metadata": None})


@given(st.lists(messages, min_size=1, max_size=4))
def test_plain_turns_are_the_turns(said: list[dict[str, Any]]) -> None:
    raw = Raw(msgspec.json.encode(said))

    plain = read_plain(raw)

    slow = None if plain is None else _leading_instructions(_turns(top({"messages": raw})))
    assert slow is None or slow == ((), plain)


def test_texts_and_lists_of_texts_go_the_quick_way() -> None:
    first = b'{"role":"user","content":"a"}'
    second = b'{"role":"assistant","content":[{"type":"text","text":"b"}]}'

    assert read_plain(Raw(b"[%b,%b]" % (first, second))) == (
        Turn("user", (Text(text="a"),)),
        Turn("assistant", (Text(text="b"),)),
    )


@pytest.mark.parametrize(
    "message",
    [
        b'{"role":"user","content":""}',
        b'{"role":"user","content":[]}',
        b'{"role":"user","content":null}',
        b'{"role":"system","content":"a"}',
        b'{"role":"user","content":"a","x":1}',
        b'{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}',
        b'{"role":"user","content":[{"type":"image","source":{}}]}',
        b'{"role":"user","content":"\\ud800"}',
        b'"a"',
    ],
)
def test_any_other_message_is_left_to_the_slow_way(message: bytes) -> None:
    assert read_plain(Raw(b"[" + message + b"]")) is None
