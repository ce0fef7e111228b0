"""One short answer in each vendor format, whole and streamed."""

import struct
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

WORDS = "Hello"
INPUT_TOKENS = 3
OUTPUT_TOKENS = 1

_encode = msgspec.json.Encoder().encode
_DIFY = _encode(
    {
        "message_id": "m-1",
        "answer": WORDS,
        "metadata": {"usage": {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS}},
    }
)
"""Never streamed."""


def _data(*events: Any) -> bytes:
    """Server-sent events without names."""
    return b"".join(b"data: %b\n\n" % _encode(event) for event in events)


def _named(*events: Mapping[str, Any]) -> bytes:
    """Server-sent events that are named after their type."""
    named = ((event["type"].encode(), _encode(event)) for event in events)
    return b"".join(b"event: %b\ndata: %b\n\n" % pair for pair in named)


def _framed(**events: Any) -> bytes:
    """Messages of a binary event stream, each with its type in a header."""
    return b"".join(_message(name, _encode(event)) for name, event in events.items())


def _message(name: str, payload: bytes) -> bytes:
    headers = b"".join(
        struct.pack(">B", len(key)) + key + struct.pack(">BH", 7, len(value)) + value
        for key, value in (
            (b":event-type", name.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def _chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_CHAT, "object": "chat.completion.chunk", "choices": [choice], **more}


_CHAT = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": "m"}
_CHAT_USAGE = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}

_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
_MESSAGE_USAGE = {"input_tokens": 3, "output_tokens": 1}

_SAID = {"type": "output_text", "text": WORDS, "annotations": []}
_ITEM = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_700_000_000,
    "model": "m",
    "status": "completed",
    "output": [{**_ITEM, "content": [_SAID]}],
    "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
}
_PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}

_CANDIDATE = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": WORDS}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4},
    "modelVersion": "m",
    "responseId": "r-1",
}

_LINE = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
_DONE = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 1}

WHOLE: dict[str, bytes] = {
    "bedrock": _encode(
        {
            "output": {"message": {"role": "assistant", "content": [{"text": WORDS}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 3, "outputTokens": 1, "totalTokens": 4},
        }
    ),
    "claude": _encode(
        {
            **_MESSAGE,
            "content": [{"type": "text", "text": WORDS}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": _MESSAGE_USAGE,
        }
    ),
    "cohere": _encode(
        {
            "id": "c-1",
            "finish_reason": "COMPLETE",
            "message": {"role": "assistant", "content": [{"type": "text", "text": WORDS}]},
            "usage": {"tokens": {"input_tokens": 3, "output_tokens": 1}},
        }
    ),
    "dify": _DIFY,
    "gemini": _encode(_CANDIDATE),
    "ollama": _encode({**_LINE, "message": {"role": "assistant", "content": WORDS}, **_DONE}),
    "openai": _encode(
        {
            **_CHAT,
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": WORDS},
                    "finish_reason": "stop",
                }
            ],
            "usage": _CHAT_USAGE,
        }
    ),
    "openai-responses": _encode(_RESPONSE),
}

STREAMED: dict[str, bytes] = {
    "bedrock": _framed(
        messageStart={"role": "assistant"},
        contentBlockDelta={"contentBlockIndex": 0, "delta": {"text": WORDS}},
        contentBlockStop={"contentBlockIndex": 0},
        messageStop={"stopReason": "end_turn"},
        metadata={"usage": {"inputTokens": 3, "outputTokens": 1, "totalTokens": 4}},
    ),
    "claude": _named(
        {
            "type": "message_start",
            "message": {
                **_MESSAGE,
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": _MESSAGE_USAGE,
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": WORDS},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": _MESSAGE_USAGE,
        },
        {"type": "message_stop"},
    ),
    "cohere": _named(
        {"type": "message-start", "id": "c-1", "delta": {"message": {"role": "assistant"}}},
        {
            "type": "content-start",
            "index": 0,
            "delta": {"message": {"content": {"type": "text", "text": ""}}},
        },
        {
            "type": "content-delta",
            "index": 0,
            "delta": {"message": {"content": {"text": WORDS}}},
        },
        {"type": "content-end", "index": 0},
        {
            "type": "message-end",
            "delta": {
                "finish_reason": "COMPLETE",
                "usage": {"tokens": {"input_tokens": 3, "output_tokens": 1}},
            },
        },
    ),
    "dify": _DIFY,
    "gemini": _data(_CANDIDATE),
    "ollama": b"%b\n%b\n"
    % (
        _encode({**_LINE, "message": {"role": "assistant", "content": WORDS}, "done": False}),
        _encode({**_LINE, "message": {"role": "assistant", "content": ""}, **_DONE}),
    ),
    "openai": _data(
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"content": WORDS}),
        _chunk({}, "stop"),
        {**_chunk({}), "choices": [], "usage": _CHAT_USAGE},
    )
    + b"data: [DONE]\n\n",
    "openai-responses": _named(
        {
            "type": "response.created",
            "sequence_number": 0,
            "response": {**_RESPONSE, "status": "in_progress", "output": [], "usage": None},
        },
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {**_ITEM, "status": "in_progress", "content": []},
        },
        {
            "type": "response.content_part.added",
            "sequence_number": 2,
            **_PLACE,
            "part": {**_SAID, "text": ""},
        },
        {
            "type": "response.output_text.delta",
            "sequence_number": 3,
            **_PLACE,
            "delta": WORDS,
        },
        {"type": "response.output_text.done", "sequence_number": 4, **_PLACE, "text": WORDS},
        {"type": "response.content_part.done", "sequence_number": 5, **_PLACE, "part": _SAID},
        {
            "type": "response.output_item.done",
            "sequence_number": 6,
            "output_index": 0,
            "item": {**_ITEM, "content": [_SAID]},
        },
        {"type": "response.completed", "sequence_number": 7, "response": _RESPONSE},
    ),
}
