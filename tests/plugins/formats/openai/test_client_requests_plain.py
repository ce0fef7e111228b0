"""Messages of nothing but text and images mean the same, read in one step or one by one."""

import msgspec
import pytest
from gateway_format_openai._members import items_of
from gateway_format_openai.client_requests.messages import read_messages, read_plain_messages
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import Text, Turn

roles = st.sampled_from(["system", "developer", "user", "assistant"])
urls = st.sampled_from(
    ["http://a/b.png", "data:image/png;base64,iVBO", "data:;base64,", "data:,x", "data:a;base64"]
)
details = st.sampled_from(["auto", "low", "high"]) | st.none()
addresses = st.fixed_dictionaries({"url": urls}, optional={"detail": details})
parts = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=20)})
parts |= st.fixed_dictionaries({"type": st.just("image_url"), "image_url": addresses})
messages = st.fixed_dictionaries({"role": roles, "content": st.text(max_size=20)})
messages |= st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(parts, max_size=4)})


@given(st.lists(messages, min_size=1, max_size=8))
def test_the_quick_way_reads_what_the_slow_way_reads(written: list[dict[str, object]]) -> None:
    raw = Raw(msgspec.json.encode(written))

    read = read_plain_messages(raw)

    assert read is not None
    assert read == read_messages(items_of(raw, "messages"))


@pytest.mark.parametrize(
    "message",
    [
        b'{"role": "user", "content": "a", "name": "b"}',
        b'{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}',
        b'{"role": "user", "content": [{"text": "a"}]}',
        b'{"role": "user", "content": ["a"]}',
        b'{"role": "user", "content": [{"type": "image_url", "image_url": "http://a"}]}',
        b'{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ""}}]}',
        b'{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a", "b": 1}}]}',
        b'{"role": "system", "content": [{"type": "text", "text": "a"}]}',
        b'{"role": "assistant", "content": [{"type": "text", "text": "a"}]}',
        b'{"role": "user", "content": null}',
        b'{"role": "assistant", "content": "a", "tool_calls": []}',
        b'{"role": "tool", "content": "a", "tool_call_id": "b"}',
        b'{"role": "user"}',
        b'{"content": "a"}',
        b'{"role": "user", "content": "\\ud800"}',
        b'"a"',
    ],
)
def test_any_other_message_is_left_to_the_slow_way(message: bytes) -> None:
    assert read_plain_messages(Raw(b'[{"role": "user", "content": "a"},' + message + b"]")) is None


def test_instructions_stand_before_the_first_turn_only() -> None:
    written = [("system", "a"), ("developer", "b"), ("user", "c"), ("system", "d")]
    raw = Raw(msgspec.json.encode([{"role": role, "content": text} for role, text in written]))

    instructions, turns = read_plain_messages(raw) or ((), ())

    assert instructions == (Text(text="a"), Text(text="b"))
    assert turns == (Turn("user", (Text(text="c"),)), Turn("system", (Text(text="d"),)))
