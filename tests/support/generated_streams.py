"""Strategies for streams: mostly text, with everything else in between."""

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
"""Two tool calls whose events may alternate."""
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
"""Texts with equal further members."""
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


def _item(index: int, what: str, **item: Any) -> bytes:
    return _event(f"response.output_item.{what}", output_index=index, item=item)


def _words_of(index: int, text: str, **more: Any) -> bytes:
    members = {"output_index": index, "content_index": 0, "delta": text, "logprobs": [], **more}
    return _event("response.output_text.delta", **members)


def _answered(status: str, *output: Any, **more: Any) -> bytes:
    response = {"id": "resp_1", "model": "m", "created_at": 7, "status": status, "output": output}
    return _event(f"response.{status}", response={**response, **more})


_spent = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 3},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 1},
}
_thought = {"type": "reasoning", "id": "rs_1", "summary": []}
_called = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f"}
_freely = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "g"}
_row = {"token": "a", "logprob": -1.0, "bytes": [97], "top_logprobs": []}
_url = {"type": "url_citation", "url": "http://a", "title": "t", "start_index": 0, "end_index": 1}
_drawn = {"type": "image_generation_call", "id": "ig_1", "result": "AA=="}
_said = {"type": "message", "id": "msg_1", "role": "assistant"}
_responses_rest = st.sampled_from(
    [
        _item(1, "added", **_said, content=[]),
        _item(1, "done", **_said, content=[{"type": "output_text", "text": "a"}]),
        _item(1, "done", **_said, content=[{"type": "refusal", "refusal": "no"}]),
        _event("response.content_part.added", output_index=1, content_index=0, part={}),
        _event("response.output_text.done", output_index=0, content_index=0, text="a"),
        _event("response.refusal.delta", output_index=1, content_index=1, delta="no"),
        _event("response.output_text.annotation.added", output_index=0, annotation=_url),
        _words_of(0, "a", logprobs=[_row]),
        _words_of(1, "a", content_index=1),
        _item(2, "added", **_thought),
        _event("response.reasoning_summary_text.delta", output_index=2, delta="hm"),
        _event("response.reasoning_summary_text.delta", output_index=2, summary_index=1, delta="m"),
        _event("response.reasoning_text.delta", output_index=2, content_index=0, delta="hm"),
        _item(2, "done", **{**_thought, "encrypted_content": "sealed"}),
        _item(3, "added", **_called, arguments=""),
        _event("response.function_call_arguments.delta", output_index=3, delta='{"a":'),
        _event("response.function_call_arguments.delta", output_index=3, delta="1}"),
        _event("response.function_call_arguments.done", output_index=3, arguments='{"a":1}'),
        _item(3, "done", **_called, arguments='{"a":1}'),
        _item(4, "added", **_freely, input=""),
        _event("response.custom_tool_call_input.delta", output_index=4, delta="é\u2028"),
        _item(4, "done", **_freely, input="é\u2028"),
        _item(5, "done", **_drawn),
        _item(6, "done", type="web_search_call", id="ws_1", status="completed"),
        _event("response.in_progress", response={}),
        _event("response.unheard_of", delta=1),
        _answered("completed", {**_called, "arguments": "{}"}, usage=_spent),
        _answered("incomplete", incomplete_details={"reason": "max_output_tokens"}),
        _answered("failed", error={"code": "rate_limit_exceeded", "message": "no"}),
        _event("error", error={"type": "server_error", "message": "no"}),
        b"data: [DONE]\n\n",
    ]
)
_responses = st.builds(lambda text: _words_of(0, text), _words)


def _line(done: bool = False, ascii_only: bool = False, **members: Any) -> bytes:
    head = {"model": "m", "created_at": "2026-01-01T00:00:00.123456789Z", "done": done}
    return json.dumps({**head, **members}, ensure_ascii=ascii_only).encode() + b"\n"


def _spoken(text: str, ascii_only: bool = False, **more: Any) -> bytes:
    message = {"role": "assistant", "content": text, **more}
    return _line(ascii_only=ascii_only, message=message)


def _tool(name: str, arguments: Any, **more: Any) -> Any:
    return {**more, "function": {"name": name, "arguments": arguments}}


_over = {"done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4}
_silence = {"role": "assistant", "content": ""}
_lines_rest = st.sampled_from(
    [
        _spoken("", thinking="hm"),
        _spoken("a", thinking="hm"),
        _spoken("", tool_calls=[_tool("f", {"a": 2**53 + 1})]),
        _spoken("", tool_calls=[_tool("f", {}, id="c1"), _tool("g", {"b": [1.5, None]}, id="c1")]),
        _spoken("", tool_calls=[_tool("f", '{"a":1}'), _tool("g", None)]),
        _spoken("a", images=["AA=="]),
        _line(message={**_silence, "content": None}),
        _line(message={"content": "a"}),
        _line(message=_silence, logprobs=[_row]),
        _line(message={**_silence, "content": "a"}, logprobs=[_row, {**_row, "token": "b"}]),
        _line(message={**_silence, "content": "a"}, done=True, **_over),
        _line(message=_silence, done=True, **{**_over, "done_reason": "length"}),
        _line(done=True, **_over),
        _line(message=None),
        _line(error="no"),
        _line(message=_silence, error={"message": "no"}, status_code=429),
        b'{"message":{"role":"assistant","content":"\\ud800"}}\n',
        b"\n",
        b" \r\n",
        b"data: [DONE]\n",
    ]
)
_lines = st.builds(_spoken, _words, _flags)


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
    "openai-responses": _stream(
        _responses | _responses | _responses_rest,
        _event("response.created", response={"id": "resp_1", "model": "m", "created_at": 7})
        + _item(0, "added", **_said, content=[]),
        _answered("completed", usage=_spent),
    ),
    "ollama": _stream(
        _lines | _lines | _lines_rest, b"", _line(message=_silence, done=True, **_over)
    ),
}
"""Streams of each vendor's format."""
