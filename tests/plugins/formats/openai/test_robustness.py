"""Nothing makes the formats stumble: any JSON is answered, or refused in words."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import msgspec
from gateway_format_openai import CHAT, COMPLETIONS
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_core import (
    BadRequest,
    Call,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    ReplyFailed,
    StreamEvent,
    Target,
    UpstreamError,
)
from gateway_formats.grammar import find_violation

assert CHAT.client is not None
assert CHAT.vendor is not None
assert COMPLETIONS.client is not None
CLIENT, VENDOR, OLDER = CHAT.client, CHAT.vendor, COMPLETIONS.client

Disorder = Callable[[Iterable[StreamEvent]], str | None]
PLAIN = Target(ProviderSpec(id="acme", name="Acme"), Model("m-1"))
ODD = Target(
    ProviderSpec(
        id="odd",
        name="Odd",
        options={
            "reasoning": "openrouter",
            "reasoning_content": "reasoning_details",
            "cache_control": True,
            "images_in_tool_results": True,
            "documents": "file_or_url",
            "json_schema": False,
            "short_ids": True,
            "allowed_tools": True,
        },
    ),
    Model("google/m-2"),
)

KEYS = re.findall(
    r"\S+",
    """
    messages input role content type text image_url url detail input_audio data format file
    file_id file_data filename video_url document_url thinking signature refusal tool_calls id
    function name arguments custom tool_call_id function_call audio reasoning_content reasoning
    reasoning_details summary tools parameters strict tool_choice allowed_tools mode functions
    cache_control ttl stop stream_options include_usage response_format json_schema schema
    reasoning_effort effort max_tokens budget_tokens enabled extra_content google
    thought_signature web_search_options temperature n logprobs index choices delta message
    finish_reason usage prompt_tokens prompt_tokens_details cached_tokens error code annotations
    url_citation start_index images model created citations search_results x_groq stop_reason
    prompt metadata raw headers details retryDelay msg
    """,
)
WORDS = re.findall(
    r"\S+",
    """
    user assistant system tool function developer text image_url custom allowed_tools auto
    reasoning.text reasoning.encrypted thinking json_schema data:image/png;base64,AA== stop
    url_citation required message
    """,
)
blanks = st.text(max_size=4)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | blanks
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
objects = st.builds(
    lambda kind, members: {**members, "type": kind},
    st.sampled_from(WORDS),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=5),
)
lists = st.lists(objects, max_size=3)
MESSAGE = (
    "content tool_calls function_call tool_call_id name reasoning_details reasoning_content "
    "refusal audio annotations images extra_content"
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(WORDS[:6])},
    optional=dict.fromkeys(MESSAGE.split(" "), values | lists | objects),
)
BODY = (
    "tools functions tool_choice stream_options response_format thinking reasoning stop n "
    "web_search_options temperature logprobs prompt metadata"
)
bodies = values | st.fixed_dictionaries(
    {"messages": st.lists(messages, min_size=1, max_size=3)},
    optional=dict.fromkeys(BODY.split(" "), values | lists | objects),
)
choices = st.fixed_dictionaries(
    {"index": st.integers(0, 1)},
    optional={
        "delta": messages | values,
        "message": messages,
        "finish_reason": st.sampled_from(["stop", "error", None]),
        "logprobs": values,
        "error": values,
    },
)
chunks = st.fixed_dictionaries(
    {"choices": st.lists(choices, max_size=2)},
    optional=dict.fromkeys(("usage", "x_groq", "citations", "error", "id"), values | lists),
)


def call_with(body: bytes, stream: bool = False) -> Call:
    return Call(kind=Kind.LLM, format="openai", model="", stream=stream, body=body)


def read(data: bytes) -> list[StreamEvent]:
    reader = VENDOR.stream_reader()
    return [*reader.feed(data), *reader.close()]


@given(bodies)
@settings(max_examples=150)
def test_no_body_makes_reading_or_writing_stumble(body: Any) -> None:
    call = call_with(msgspec.json.encode(body))
    for side in (CLIENT, OLDER):
        for target in (PLAIN, ODD):
            with suppress(BadRequest):
                conversation = side.read_request(call)
                again = VENDOR.write_request(conversation, target, Losses())
                assert msgspec.json.decode(again)["messages"]


@given(st.lists(chunks | values, max_size=4))
@settings(max_examples=100)
def test_no_frame_makes_a_reader_stumble(disorder: Disorder, rows: list[Any]) -> None:
    frames = b"".join(b"data: %b\n\n" % msgspec.json.encode(row) for row in rows)
    relay = VENDOR.relay(call_with(b"{}", True), PLAIN, {})

    events = read(frames + b"data: [DONE]\n\n")
    passed = relay.feed(frames) + relay.close()

    assert disorder(events) is None
    assert CHAT.grammar is not None
    assert find_violation(CHAT.grammar, passed) is None


@given(chunks | values)
@settings(max_examples=100)
def test_no_answer_makes_a_reader_stumble(body: Any) -> None:
    raw = msgspec.json.encode(body)
    relay = VENDOR.relay(call_with(b"{}"), PLAIN, {})

    with suppress(UpstreamError):
        assert VENDOR.read_reply(raw).choices
    assert relay.feed(raw) + relay.close() in (b"", raw)
    assert VENDOR.read_error(500, {}, raw).message


@given(st.binary(max_size=60))
def test_no_bytes_make_a_reader_stumble(data: bytes) -> None:
    events = read(data)

    assert isinstance(events[-1], ReplyFailed)
    assert VENDOR.read_error(500, {}, data).message
