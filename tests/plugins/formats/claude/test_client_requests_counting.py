"""Counting a prompt's tokens by a rule of thumb."""

import json
from typing import Any

import pytest
from gateway_format_claude import CLAUDE

from gateway_core import Counting


@pytest.fixture
def counting() -> Counting:
    (found,) = [e.counting for e in CLAUDE.endpoints if e.counting is not None]
    return found


def count(counting: Counting, body: Any) -> int:
    written = json.loads(counting.estimate(json.dumps(body).encode()))
    assert written == {"input_tokens": written["input_tokens"], "approximate": True}
    number: int = written["input_tokens"]
    return number


def test_the_vendors_path_names_no_model(counting: Counting) -> None:
    assert counting.path("any") == "/messages/count_tokens"


def test_four_characters_are_a_token(counting: Counting) -> None:
    assert count(counting, {"messages": [{"role": "user", "content": "x" * 9}]}) == 3
    assert count(counting, {"system": "x" * 8}) == 2
    assert count(counting, {"system": [{"type": "text", "text": "x" * 8}]}) == 2


def test_everything_that_is_text_counts(counting: Counting) -> None:
    tools = [{"name": "look"}]
    blocks = [
        {"type": "text", "text": "abcd"},
        {"type": "thinking", "thinking": "abcd", "signature": "not counted"},
        {"type": "tool_use", "id": "x", "name": "look", "input": {"a": 1}},
        {"type": "tool_result", "tool_use_id": "x", "content": "abcd"},
        {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "abcd"}]},
        {"type": "image", "source": {"type": "base64", "data": "x" * 4000}},
    ]

    characters = 4 + 4 + len('look{"a":1}') + 4 + 4 + len(json.dumps(tools))

    assert count(counting, {"tools": tools, "messages": [{"content": blocks}]}) == -(
        -characters // 4
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"rubbish",
        b"[]",
        b"{}",
        b'{"messages":3,"system":{},"tools":null}',
        b'{"messages":[3,{"content":[3,{"type":"text","text":4},{"type":"tool_result"}]}]}',
        b'{"messages":' + b"[" * 100_000,
        b'{"system":"\xff"}',
    ],
)
def test_rubbish_counts_as_one(counting: Counting, body: bytes) -> None:
    assert json.loads(counting.estimate(body)) == {"input_tokens": 1, "approximate": True}
