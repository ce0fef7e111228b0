"""What counts as a well-formed stream, and what does not."""

from collections.abc import Mapping

import msgspec
import pytest
from gateway_format_openai import CHAT
from msgspec import Raw

from gateway_core import BadRequest, Intake
from gateway_formats.grammar import find_violation

CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
COUNT = b'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n'
ERROR = b'data: {"error":{"message":"bad"}}\n\n'
NOTE = b": hello\n\n"
DONE = b"data: [DONE]\n\n"


def is_well_formed(stream: bytes) -> bool:
    assert CHAT.grammar is not None
    return find_violation(CHAT.grammar, stream) is None


@pytest.mark.parametrize(
    "stream",
    [
        CHUNK + END + DONE,
        NOTE + CHUNK + NOTE + END + COUNT + DONE,
        CHUNK + DONE,
        END + DONE + NOTE,
        CHUNK + END + CHUNK + END + DONE,
        ERROR,
        CHUNK + ERROR,
        (CHUNK + END + DONE).replace(b"\n", b"\r\n"),
    ],
)
def test_a_stream_with_a_proper_end_is_well_formed(stream: bytes) -> None:
    assert is_well_formed(stream)


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        NOTE,
        DONE,
        COUNT + DONE,
        CHUNK + END,
        CHUNK + END + COUNT,
        CHUNK + DONE + CHUNK,
        CHUNK + DONE + DONE,
        CHUNK + ERROR + DONE,
        ERROR + ERROR,
        CHUNK + b"data: {\n\n" + DONE,
        CHUNK + b"data: 5\n\n" + DONE,
        (CHUNK + DONE)[:-1],
        (CHUNK + DONE)[:-9],
    ],
)
def test_a_broken_stream_is_not(stream: bytes) -> None:
    assert not is_well_formed(stream)


def intake(body: Mapping[str, object]) -> Intake:
    members = msgspec.json.decode(msgspec.json.encode(body), type=dict[str, Raw])
    return CHAT.endpoints[0].read({}, {}, members)


def test_routing_needs_the_model_and_whether_to_stream() -> None:
    written = [{"role": "user", "content": "hi"}]

    assert intake({"model": "m", "messages": written, "stream": True}) == Intake("m", True)
    assert intake({"messages": written}) == Intake("", False)
    assert intake({"input": "hi"}) == Intake("", False)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "messages is missing"),
        ({"messages": None}, "messages is missing"),
        ({"messages": []}, "messages must not be empty"),
        ({"messages": "hi"}, "messages must be an array"),
        ({"input": 5}, "input must be an array"),
        ({"messages": [1], "stream": "yes"}, "stream must be true or false"),
    ],
)
def test_a_body_without_messages_is_refused_before_anything_else(
    body: Mapping[str, object], message: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        intake(body)

    assert refused.value.message == message


def test_the_chat_endpoint_takes_nothing_but_json() -> None:
    assert CHAT.endpoints[0].path == "/v1/chat/completions"
    assert CHAT.endpoints[0].json_only
