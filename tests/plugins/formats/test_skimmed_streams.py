"""Streams of the real formats that are skimmed say what they say when every frame is read."""

import json
from typing import Any

import pytest
from gateway_format_claude.relay import Watch
from gateway_format_openai.relay import ChatRelay, ChatWatch
from hypothesis import example, given
from hypothesis import strategies as st

from gateway_core import ReplyFailed
from gateway_formats import relay
from gateway_formats.relay import StreamRelay


def reported(made: StreamRelay, chunks: list[bytes]) -> tuple[object, ...]:
    given = [*map(made.feed, chunks), made.close()]
    return b"".join(given), made.characters, made.usage, made.started, made.ended, made.failure


class Unskimmed:
    """A watch whose every frame is looked at."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watch, name)

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        seen = self._watch.look(event, data)
        return True if isinstance(seen, str) else seen


texts = st.text(max_size=3) | st.sampled_from(
    ["content", "delta", ":", ",", "index", "stop", '"', "\\", "}\n\n", "\u2028", "é", "\x7f", "0"]
)
_strings = texts.map(lambda text: json.dumps(text, ensure_ascii=False))
values = _strings | st.sampled_from(
    ["null", "0", "1", "1e0", "[]", "{}", "true", '"\\u0061"', '"\\ud800"', '[{"text":"a"}]']
)
names = st.sampled_from(
    ["content", "content", "content", "refusal", "reasoning", "role", "conten\\u0074", "tool_calls"]
)
members = st.lists(st.tuples(names, values), min_size=1, max_size=3).map(
    lambda pairs: "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}"
)
choices = st.builds(
    '{{"index":{},"delta":{}{}}}'.format,
    st.sampled_from(["0", "0", "0", "1", "null"]),
    members,
    st.sampled_from(
        ["", "", "", ',"finish_reason":"stop"', ',"error":{"message":"no"}', ',"delta":{}']
    ),
)
more = st.sampled_from(
    ["", "", "", ',"usage":{"prompt_tokens":1,"completion_tokens":2}', ',"error":"no"', ',"x":"a"']
)
chats = st.builds('data: {{"choices":[{}]{}}}\n\n'.format, choices, more)
plain = st.builds('data: {{"choices":[{{"delta":{{"content":{}}}}}]}}\n\n'.format, _strings)
odd = st.sampled_from(["data: [DONE]\n\n", ": hi\n\n", "data: {}\r\n\r\n", "\n", "data: \n\n"])
streams = st.lists(plain | plain | chats | odd, max_size=10).map(
    lambda frames: [frame.encode("utf-8", "surrogatepass") for frame in frames]
)


def _cut(whole: bytes, cuts: set[int]) -> list[bytes]:
    places = sorted({cut % (len(whole) + 1) for cut in cuts})
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


@given(streams, st.sets(st.integers(0, 2000), max_size=6))
@example([b'data: {"choices":[{"delta":{"content":"a","content":"b"}}]}\n\n'] * 3, set())
def test_chats(frames: list[bytes], cuts: set[int]) -> None:
    chunks = _cut(b"".join(frames), cuts)

    skimmed = reported(ChatRelay(ChatWatch(False)), chunks)
    watch: Any = Unskimmed(ChatWatch(False))

    assert skimmed == reported(_chat(watch), chunks)
    assert reported(ChatRelay(ChatWatch(False)), frames)[1:] == skimmed[1:]


def _chat(watch: Any) -> ChatRelay:
    made = ChatRelay(watch)
    made._chat = watch._watch
    return made


START = (
    b'event: message_start\ndata: {"type":"message_start","message":'
    b'{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n'
    b"event: content_block_start\ndata: "
    b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)
deltas = st.lists(
    st.tuples(
        st.sampled_from(["text", "text", "thinking", "partial_json", "signature", "type"]), values
    ),
    min_size=1,
    max_size=3,
).map(lambda pairs: "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}")
events = st.builds(
    'event: {}\ndata: {{"type":{},"index":{},"delta":{}}}\n\n'.format,
    st.sampled_from(["content_block_delta"] * 5 + ["ping", "error", "content_block_stop"]),
    st.sampled_from(
        ['"content_block_delta"'] * 5 + ['"ping"', '"content_block_stop"', '"message_stop"']
    ),
    st.sampled_from(["0", "0", "0", "1", "-1", "00"]),
    deltas,
)
usual = st.builds(
    'event: content_block_delta\ndata: {{"type":"content_block_delta","index":0,'
    '"delta":{{"type":"text_delta","text":{}}}}}\n\n'.format,
    _strings,
)


@given(st.lists(usual | usual | events | odd, max_size=10), st.sets(st.integers(0, 4000)))
def test_messages(frames: list[str], cuts: set[int]) -> None:
    chunks = _cut(START + "".join(frames).encode("utf-8", "surrogatepass"), cuts)
    watch: Any = Unskimmed(Watch(""))

    assert reported(StreamRelay(Watch("")), chunks) == reported(StreamRelay(watch), chunks)


@pytest.mark.parametrize("count", [3, relay.MOST_TEMPLATES + 20])
def test_most_frames_are_not_looked_at(count: int) -> None:
    frames = [b'data: {"choices":[{"delta":{"content":"a%d"}}]}\n\n' % n for n in range(count)]
    looked: list[bytes] = []

    class Observing(ChatWatch):
        def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
            looked.append(data)
            return super().look(event, data)

    reported(ChatRelay(Observing(False)), frames)

    assert len(looked) == 1
