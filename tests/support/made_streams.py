"""Streams made up for tests: mostly words, with everything else in between."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

_words = st.text(max_size=4) | st.sampled_from(
    ["text", "content", "delta", '"', "\\", "\n", "\u2028", "é", "😀", '","', "}\n\n", "0"]
)


def _frame(value: Any, name: str = "", *, ascii_only: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode("utf-8", "surrogatepass")


def _chunk(delta: Any, choice: int = 0, ascii_only: bool = False, **more: Any) -> bytes:
    choices = [{"index": choice, "delta": delta, "finish_reason": more.pop("finish", None)}]
    head = {"id": "chatcmpl-1", "created": 7, "model": "m"}
    return _frame({**head, "choices": choices, **more}, ascii_only=ascii_only)


def _call(index: int, **function: Any) -> Any:
    return {"tool_calls": [{"index": index, "function": function}]}


_flags = st.booleans()
_usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
_chat_rest = st.sampled_from(
    [
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"content": None}),
        _chunk({}),
        _chunk({"refusal": "no"}),
        _chunk({"content": "a"}, 1),
        _chunk({"content": "a", "reasoning_content": "b"}),
        _chunk({"content": [{"type": "text", "text": "a"}]}),
        _chunk({"content": "a"}, logprobs={"content": [{"token": "a", "logprob": -1.0}]}),
        _chunk({"content": "a"}, usage=_usage),
        _chunk({"content": "a"}, finish="stop"),
        _chunk({"content": "a", "annotations": [{"url_citation": {"url": "http://a"}}]}),
        _chunk({"tool_calls": [{"index": 0, "id": "c0", "function": {"name": "f"}}]}),
        _chunk({"tool_calls": [{"index": 1, "id": "c1", "function": {"name": "g"}}]}),
        _chunk(_call(2, name="h")),
        _chunk(_call(0, arguments='{"a":')),
        _chunk(_call(1, arguments="{}")),
        _chunk(_call(0, arguments="1}")),
        _chunk({}, finish="tool_calls"),
        _frame({"choices": [], "usage": _usage}),
        _frame({"error": {"message": "no", "code": 429}}),
        b'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"\\ud800"}}]}\n\n',
        b'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"\xe4"}}]}\n\n',
        b": hi\n\n",
        b"data: [DONE]\n\n",
    ]
)
_calls = st.lists(
    st.builds(
        lambda index, text: _chunk(_call(index, arguments=text)),
        st.integers(0, 1),
        st.sampled_from(['{"a":', "1}", "{}", "[", '"', "é"]),
    ),
    max_size=5,
).map(
    lambda grown: b"".join(
        [
            _chunk({"tool_calls": [{"index": 0, "id": "c0", "function": {"name": "f"}}]}),
            *grown[:1],
            _chunk({"tool_calls": [{"index": 1, "id": "c1", "function": {"name": "g"}}]}),
            *grown[1:],
        ]
    )
)
"""Two calls that may come by turns."""
_beside = st.builds(
    lambda texts, delta: b"".join(
        [*(_chunk({"content": text, **delta}) for text in texts), _chunk(_call(2, name="h"))]
    ),
    st.lists(_words, min_size=2, max_size=4),
    st.sampled_from(
        [
            _call(2, arguments="1"),
            {"function_call": {"arguments": "1"}},
            {"annotations": [{"type": "url_citation", "url_citation": {"url": "http://a"}}]},
            {"images": [{"image_url": {"url": "data:image/png;base64,AA=="}}]},
            {"audio": {"id": "a", "data": "AA=="}},
            {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
            {"extra_content": {"google": {"thought_signature": "s"}}},
            {"reasoning": "hm"},
            {"refusal": ""},
        ]
    ),
)
"""Texts that each have the same thing beside them."""
_chat = st.builds(lambda text, plain: _chunk({"content": text}, ascii_only=plain), _words, _flags)
_thinking = st.builds(lambda text: _chunk({"reasoning_content": text}), _words)


def _delta(index: int, ascii_only: bool = False, **delta: Any) -> bytes:
    kind = "content_block_delta"
    return _frame({"type": kind, "index": index, "delta": delta}, kind, ascii_only=ascii_only)


def _event(kind: str, **members: Any) -> bytes:
    return _frame({"type": kind, **members}, kind)


def _start(index: int, **block: Any) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


_counted = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 3}
_begun = _event("message_start", message={"id": "msg_1", "model": "m", "usage": _counted})
_messages_rest = st.sampled_from(
    [
        _start(0, type="text", text=""),
        _start(0, type="text", text="a"),
        _start(1, type="tool_use", id="c1", name="f", input={}),
        _start(2, type="thinking", thinking=""),
        _start(1, type="server_tool_use", id="s", name="web_search", input={}),
        _delta(1, type="input_json_delta", partial_json='{"a":'),
        _delta(1, type="input_json_delta", partial_json="1}"),
        _delta(2, type="thinking_delta", thinking="hm"),
        _delta(2, type="signature_delta", signature="s"),
        _delta(0, type="citations_delta", citation={"type": "x", "url": "http://a"}),
        _delta(0, type="text_delta"),
        _delta(0, text="a"),
        _event("content_block_stop", index=0),
        _event("content_block_stop", index=1),
        _event("content_block_stop", index=2),
        _event("ping"),
        _event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 4}),
        _event("message_stop"),
        _event("error", error={"type": "overloaded_error", "message": "no"}),
        _begun,
        b"data: [DONE]\n\n",
    ]
)
_messages = st.builds(
    lambda text, plain: _delta(0, ascii_only=plain, type="text_delta", text=text), _words, _flags
)


def _piece(*parts: Any, finish: str | None = None, **more: Any) -> bytes:
    candidate: dict[str, Any] = {"content": {"parts": [*parts], "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return _frame({"candidates": [candidate], "modelVersion": "m", "responseId": "r", **more})


_counts = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
_call_part = {"functionCall": {"name": "f", "args": {"a": 1}}}
_content_rest = st.sampled_from(
    [
        _piece({"text": "hm", "thought": True}),
        _piece({"text": "a", "thoughtSignature": "s"}),
        _piece({"text": "", "thoughtSignature": "s"}),
        _piece({"text": ""}),
        _piece({"text": "a"}, {"text": "b"}),
        _piece(_call_part),
        _piece(_call_part, _call_part, finish="STOP"),
        _piece({"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        _piece({"text": "a"}, finish="STOP", usageMetadata=_counts),
        _piece({"text": "a"}, usageMetadata={**_counts, "thoughtsTokenCount": 5}),
        _piece({"text": "a", "odd": 1}, usageMetadata={"promptTokenCount": 1}),
        _piece({"text": "a"}, usageMetadata={"promptTokenCount": -1, "thoughtsTokenCount": 1}),
        _piece({"text": "a"}, usageMetadata={"promptTokenCount": 1.0}),
        _piece({"text": "a", "functionCall": 1}),
        _piece({"text": "a"}, index=None),
        _piece({"text": "a"}, modelVersion=1),
        _piece({"text": "a"}, promptFeedback={}),
        _piece({"text": "a"}, promptFeedback={"blockReason": "SAFETY"}),
        _frame({"candidates": [{"content": {"parts": [{"text": "a"}]}, "index": 1}]}),
        _frame({"candidates": [{"content": {"parts": [{"text": "a"}]}, "safetyRatings": []}]}),
        _frame({"candidates": [{"content": {"parts": [{"text": "a"}]}, "citationMetadata": {}}]}),
        _frame({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": ""}]}),
        _piece({"functionCall": {"name": "g", "willContinue": True}}),
        _piece({"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "b"}]}}),
        _frame({"promptFeedback": {"blockReason": "SAFETY"}}),
        _frame({"error": {"code": 503, "message": "no"}}),
        b'data: {"candidates":[{"content":{"parts":[{"text":"\\ud800"}]}}]}\n\n',
        b"data: [DONE]\n\n",
    ]
)
_content = st.builds(
    lambda text, more: _piece({"text": text, **more}),
    _words,
    st.sampled_from([{}, {}, {}, {"thought": True}, {"thought": False}, {"thought": None}]),
)
_counted_content = st.builds(
    lambda text, count: _piece({"text": text}, usageMetadata={"promptTokenCount": count}),
    _words,
    st.integers(0, 2),
)
_last = _piece({"text": "."}, finish="STOP", usageMetadata=_counts)


def _stream(frames: st.SearchStrategy[bytes], start: bytes, end: bytes) -> st.SearchStrategy[bytes]:
    several = st.lists(frames, max_size=14).map(b"".join)
    return st.builds(lambda some, more: start + some + more, several, st.sampled_from([end, b""]))


STREAMS: Mapping[str, st.SearchStrategy[bytes]] = {
    "openai": _stream(
        _chat | _chat | _chat | _thinking | _calls | _beside | _chat_rest,
        _chunk({"role": "assistant"}),
        _chunk({}, finish="stop") + b"data: [DONE]\n\n",
    ),
    "claude": _stream(
        _messages | _messages | _messages | _messages_rest,
        _begun + _start(0, type="text", text=""),
        _event("content_block_stop", index=0)
        + _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 4})
        + _event("message_stop"),
    ),
    "gemini": _stream(_content | _content | _counted_content | _content_rest, b"", _last),
}
"""Streams of each vendor's format."""
