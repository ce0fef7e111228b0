"""No request, answer or error surprises its reader, whatever stands in it."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
from claude_strategies import CLIENT, QUICK, VENDOR, call_of, jsons, target, words
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import BadRequest, Conversation, Losses, PartUnsupported, UpstreamError


@QUICK
@given(st.recursive(jsons, lambda inner: st.lists(inner, max_size=2), max_leaves=3), st.data())
def test_no_body_surprises_the_reader_of_requests(value: Any, data: st.DataObject) -> None:
    body = json.loads(json.dumps(EXAMPLE))
    holder, key = data.draw(st.sampled_from(list(places(body))))
    holder[key] = value

    complaint = complaint_about(msgspec.json.encode(body))

    assert complaint is None or re.match(r"[a-z_]+[.:]", complaint)


def complaint_about(body: bytes) -> str | None:
    try:
        conversation = CLIENT.read_request(call_of(body))
        VENDOR.write_request(conversation, target(), Losses())
    except PartUnsupported:  # It names the part; the pipeline adds the client's word for it.
        return None
    except BadRequest as refusal:
        return refusal.message
    return None


def places(value: Any) -> Any:
    """Every holder and key in a JSON value."""
    found = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(found):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


EXAMPLE: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
                {"type": "image", "source": {"type": "base64", "media_type": "i", "data": "x"}},
                {"type": "document", "source": {"type": "content", "content": "x"}, "title": "t"},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "x", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
                {"type": "server_tool_use", "id": "s"},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "is_error": True,
                    "content": [{"type": "text", "text": "x"}, {"type": "tool_reference"}],
                }
            ],
        },
        {"role": "system", "content": "s"},
    ],
    "tools": [{"name": "n", "input_schema": {"type": "object"}}, {"type": "web_search_1"}],
    "tool_choice": {"type": "tool", "name": "n", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    "metadata": {"user_id": "u"},
    "stop_sequences": ["x"],
    "service_tier": "auto",
}


def test_the_example_is_taken() -> None:
    assert CLIENT.read_request(call_of(msgspec.json.encode(EXAMPLE))).turns


ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "model": "m",
    "content": [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
        {"type": "thinking", "thinking": "x", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
        {"type": "server_tool_use", "id": "s"},
    ],
    "stop_reason": "refusal",
    "stop_details": {"type": "refusal", "explanation": "x"},
    "usage": {"input_tokens": 1, "output_tokens": 2, "output_tokens_details": {}},
}


@QUICK
@given(jsons, st.data())
def test_no_answer_surprises_the_reader_of_replies(value: Any, data: st.DataObject) -> None:
    body = json.loads(json.dumps(ANSWER))
    holder, key = data.draw(st.sampled_from(list(places(body))))
    holder[key] = value

    try:
        reply = VENDOR.read_reply(msgspec.json.encode(body))
    except UpstreamError:
        return

    json.loads(CLIENT.write_reply(reply, Conversation(), Losses()))


@QUICK
@given(st.integers(300, 599), st.dictionaries(words, words, max_size=2), jsons)
def test_no_error_surprises_the_reader_of_errors(
    status: int, headers: dict[str, str], value: Any
) -> None:
    body: Callable[[Any], bytes] = msgspec.json.encode
    for written in (value, {"error": value}, {"error": {"message": value, "type": value}}):
        error = VENDOR.read_error(status, headers, body(written))

        assert error.message
        assert "\n" not in error.message
