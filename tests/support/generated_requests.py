"""Strategies for requests and whole answers: simple ones, and nearly simple ones."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

_TURNS = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "ho"},
    {"role": "user", "content": "é\u2028"},
]
_CONTENTS = [
    {"role": "user", "parts": [{"text": "hi"}]},
    {"role": "model", "parts": [{"text": "ho"}]},
    {"role": "user", "parts": [{"text": "é\u2028"}]},
]
_PLAIN: Mapping[str, Any] = {
    "openai": {"model": "m", "messages": _TURNS, "max_tokens": 9},
    "openai-responses": {"model": "m", "input": _TURNS},
    "claude": {"model": "m", "max_tokens": 9, "messages": _TURNS},
    "gemini": {"contents": _CONTENTS},
    "ollama": {"model": "m", "messages": _TURNS},
}
PLAIN: Mapping[str, bytes] = {wire: json.dumps(body).encode() for wire, body in _PLAIN.items()}
"""The simplest request of every format."""

_EPHEMERAL = {"type": "ephemeral"}
_TEXT = {"type": "text", "text": "a"}
_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_contents = st.sampled_from(
    [
        *("a", "b c", "", " ", "\n", "é\u2028", None),
        [_TEXT],
        [_TEXT, {"type": "text", "text": "b"}],
        [{"type": "text", "text": ""}],
        [],
        [{**_TEXT, "cache_control": _EPHEMERAL}],
        [{**_TEXT, "x": 1}],
        [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}],
        [{"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}],
    ]
)
_more = st.sampled_from(
    [
        {},
        {},
        {},
        {},
        {"name": "n"},
        {"name": None},
        {"x": 1},
        {"type": "message"},
        {"tool_calls": [_CALL]},
        {"refusal": "no"},
        {"reasoning_content": "hm"},
        {"thinking": "hm"},
        {"images": ["AA=="]},
    ]
)
_roles = st.sampled_from(
    ["user", "assistant", "user", "assistant", "system", "developer", "tool", "x"]
)
_usual = st.fixed_dictionaries({"role": st.just("user"), "content": st.just("a")})
_messages = st.builds(
    lambda role, content, more: {"role": role, "content": content, **more},
    _roles,
    _contents,
    _more,
)
_parts = st.sampled_from(
    [
        {"text": "a"},
        {"text": "a"},
        {"text": ""},
        {"text": "a", "thought": True},
        {"text": "a", "thoughtSignature": "cw=="},
        {"text": "a", "x": 1},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"functionCall": {"name": "f", "args": {}}},
        {"functionResponse": {"name": "f", "response": {"result": 1}}},
    ]
)
_turns = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "model"]), "parts": st.lists(_parts, max_size=2)},
    optional={"x": st.just(1)},
)
_settings = st.dictionaries(
    st.sampled_from(
        [
            *("max_tokens", "temperature", "top_p", "top_k", "stop", "stop_sequences", "seed", "n"),
            *("system", "instructions", "user", "metadata", "stream", "service_tier", "options"),
            *("thinking", "reasoning_effort", "response_format", "tools", "x", "_x"),
        ]
    ),
    st.sampled_from([None, 1, 0.5, 9_000_000, "a", "", ["a"], [], {}, True, {"type": "enabled"}]),
    max_size=2,
)
_by_turns = st.lists(
    st.tuples(st.sampled_from(["a", "b c", "é"]), st.just({}) | st.just({}) | _more),
    min_size=1,
    max_size=4,
).map(
    lambda written: [
        {"role": ("user", "assistant")[place % 2], "content": text, **more}
        for place, (text, more) in enumerate(written)
    ]
)
_chats = _by_turns | st.lists(_usual | _messages | _messages, min_size=1, max_size=4)


def _asked(wire: str, member: str, turns: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return st.builds(
        lambda written, more: json.dumps({**_PLAIN[wire], **more, member: written}).encode(),
        turns,
        _settings,
    )


QUESTIONS: Mapping[str, st.SearchStrategy[bytes]] = {
    "openai": _asked("openai", "messages", _chats),
    "openai-responses": _asked("openai-responses", "input", _chats),
    "claude": _asked("claude", "messages", _chats),
    "gemini": _asked("gemini", "contents", st.lists(_turns, min_size=1, max_size=4)),
    "ollama": _asked("ollama", "messages", _chats),
}

_CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 7,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "hi",
                "refusal": None,
                "annotations": [],
                "tool_calls": None,
                "reasoning_content": None,
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
    "system_fingerprint": "fp",
    "service_tier": "default",
}
_CHAT_COUNTS = {
    "prompt_tokens": 9,
    "completion_tokens": 4,
    "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 2, "audio_tokens": 1},
}
_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hi", "citations": None}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "stop_details": None,
    "usage": {"input_tokens": 9, "output_tokens": 4, "output_tokens_details": None},
}
_MESSAGE_COUNTS = {
    "input_tokens": 9,
    "output_tokens": 4,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 2,
    "output_tokens_details": {"thinking_tokens": 1},
}
_TOOL_USE = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 2**53 + 1}}
_CONTENT = {
    "candidates": [
        {
            "content": {"parts": [{"text": "hi"}], "role": "model"},
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 9,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 3,
    },
    "promptFeedback": None,
    "modelVersion": "m",
    "responseId": "r",
    "createTime": "2026-01-01T00:00:00Z",
}
_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 7,
    "model": "m",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}],
        }
    ],
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 2},
    },
}
_ITEMS = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "content": [{"type": "reasoning_text", "text": "hum"}],
        "encrypted_content": "sealed",
    },
    *_RESPONSE["output"],  # type: ignore[misc]
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a":1}'},
    {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "g", "input": "é\u2028"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "image_generation_call", "id": "ig_1", "result": "AA=="},
]
_LINE = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00.123456789Z",
    "message": {"role": "assistant", "content": "hi"},
    "done_reason": "stop",
    "done": True,
    "prompt_eval_count": 9,
    "eval_count": 4,
}
_ROW = {"function": {"name": "f", "arguments": {"a": 2**53 + 1}}}
ANSWERS: Mapping[str, Sequence[Any]] = {
    "openai": (_CHAT, {**_CHAT, "usage": _CHAT_COUNTS}),
    "claude": (
        _MESSAGE,
        {**_MESSAGE, "usage": _MESSAGE_COUNTS},
        {**_MESSAGE, "content": [{"type": "text", "text": "hi"}, _TOOL_USE, _TOOL_USE]},
    ),
    "gemini": (_CONTENT,),
    "openai-responses": (_RESPONSE, {**_RESPONSE, "output": _ITEMS}),
    "ollama": (
        _LINE,
        {**_LINE, "message": {"role": "assistant", "content": "hi", "thinking": "hm"}},
        {**_LINE, "message": {"role": "assistant", "content": "", "tool_calls": [_ROW, _ROW]}},
    ),
}
"""Whole answers of every vendor: the simplest, and nearly simple ones."""
