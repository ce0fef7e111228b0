"""Habits of real vendors, odd but recorded: what they leave out, repeat or spell otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from .answer import MockAnswer
from .frames import data, encode, named_event
from .refusals import FaultFunction
from .server import MockResponse

QuirkContent = Literal["text", "call", "nothing"]
TEXT = "Hello"
CALL = ("look_up", {"city": "Bonn"})
_ARGUMENTS = ('{"city":', '"Bonn"}')


class Quirk(Struct, frozen=True, kw_only=True):
    """One answer in one format. It says ``TEXT``, makes the ``CALL`` or says nothing at all."""

    description: str
    feature: str
    """What recordings of it are marked with."""
    wire: str
    stream: bool
    body: bytes
    content: QuirkContent = "text"


_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_END = b"data: [DONE]\n\n"
_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def _chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data({**_CHUNK, "choices": [choice], **more})


_TEXT = (_chunk({"content": "Hel"}), _chunk({"content": "lo"}))
_STOP = _chunk({}, "stop")


def _chat(description: str, feature: str, *frames: bytes, content: QuirkContent = "text") -> Quirk:
    """A stream of chat completions."""
    body = b"".join((*frames, _END))
    return Quirk(
        description=description,
        feature=feature,
        wire="openai",
        stream=True,
        body=body,
        content=content,
    )


def _pieces(description: str, feature: str, head: dict[str, Any], tail: dict[str, Any]) -> Quirk:
    """A streamed tool call whose pieces name it as these members do."""
    first, second = _ARGUMENTS
    first_piece = {**head, "type": "function", "function": {"name": CALL[0], "arguments": first}}
    next_piece = {**tail, "function": {"arguments": second}}
    frames = (
        _chunk({"role": "assistant", "content": None, "tool_calls": [first_piece]}),
        _chunk({"tool_calls": [next_piece]}),
        _chunk({}, "tool_calls"),
    )
    return _chat(description, feature, *frames, content="call")


def _whole(
    description: str,
    feature: str,
    message: dict[str, Any],
    choice: dict[str, Any],
    content: QuirkContent = "text",
) -> Quirk:
    """A whole chat completion."""
    choice_body = {"index": 0, "message": {"role": "assistant", **message}, **choice}
    answer = {**_CHUNK, "object": "chat.completion", "choices": [choice_body], "usage": _USAGE}
    return Quirk(
        description=description,
        feature=feature,
        wire="openai",
        stream=False,
        body=encode(answer),
        content=content,
    )


_TOOL = {
    "id": "a",
    "type": "function",
    "function": {"name": CALL[0], "arguments": "".join(_ARGUMENTS)},
}
_STOPPED, _CALLED = {"finish_reason": "stop"}, {"finish_reason": "tool_calls"}
_UNFILTERED = {"error": {"code": "content_filter_error", "message": "Not filtered"}}
_FILTERED = {"hate": {"filtered": False, "severity": "safe"}}
_LIST = [{"type": "text", "text": TEXT}]

_CHAT = {
    "odd-role-only": _chat(
        "a first frame with a role alone", "role_only_chunk", _chunk({"role": "assistant"}),
        *_TEXT, _STOP,
    ),
    "odd-empty-deltas": _chat(
        "frames whose delta is empty", "empty_delta", _chunk({}), *_TEXT, _chunk({}), _STOP
    ),
    "odd-empty-content": _chat(
        "frames whose content is empty", "empty_content_delta", _chunk({"content": ""}), *_TEXT,
        _chunk({"content": ""}), _STOP,
    ),
    "odd-no-choices": _chat(
        "a first frame without choices", "empty_choices_chunk", data({**_CHUNK, "choices": []}),
        *_TEXT, _STOP,
    ),
    "odd-null-content": _chat(
        "content that is null", "null_content", _chunk({"content": None}), *_TEXT, _STOP
    ),
    "odd-usage-beside-content": _chat(
        "usage on frames that say something", "usage_with_choices",
        _chunk({"content": TEXT}, usage=_USAGE), _chunk({}, "stop", usage=_USAGE),
    ),
    "odd-content-list": _chat(
        "content as a list of parts", "content_list_delta", _chunk({"content": _LIST}), _STOP
    ),
    "odd-filter-results": _chat(
        "a frame about filters before the answer", "azure_content_filter",
        data({**_CHUNK, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
        _chunk({"content": TEXT}, content_filter_results=_FILTERED), _STOP,
    ),
    "odd-call-without-id": _pieces(
        "later pieces of a tool call without an id", "toolcall_delta_without_id",
        {"index": 0, "id": "a"}, {"index": 0},
    ),
    "odd-call-empty-id": _pieces(
        "later pieces of a tool call with an empty id", "toolcall_empty_id",
        {"index": 0, "id": "a"}, {"index": 0, "id": ""},
    ),
    "odd-call-without-index": _pieces(
        "pieces of a tool call without an index", "toolcall_no_index", {"id": "a"}, {}
    ),
    "odd-whole-content-list": _whole(
        "whole content as a list of parts", "content_list", {"content": _LIST}, _STOPPED
    ),
    "odd-call-alone": _whole(
        "a tool call and no content member", "missing_content", {"tool_calls": [_TOOL]}, _CALLED,
        "call",
    ),
    "odd-call-null-content": _whole(
        "a tool call beside content that is null", "null_content",
        {"content": None, "tool_calls": [_TOOL]}, _CALLED, "call",
    ),
    "odd-error-that-is-none": _whole(
        "an error object about the filter beside a sound answer", "azure_content_filter",
        {"content": TEXT, "refusal": None}, {**_STOPPED, "content_filter_result": _UNFILTERED},
    ),
    "odd-nothing-said": _whole(
        "an answer that says nothing", "empty_content", {"content": ""}, _STOPPED, "nothing"
    ),
}  # fmt: skip

_MESSAGE: Mapping[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
    "stop_reason": None, "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 1},
}  # fmt: skip
_START = named_event({"type": "message_start", "message": _MESSAGE})
_PING = named_event({"type": "ping"})


def _block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    """A block of a stream of messages, from its start to its stop."""
    place = {"index": index}
    return b"".join((
        named_event({"type": "content_block_start", **place, "content_block": block}),
        *(named_event({"type": "content_block_delta", **place, "delta": each}) for each in deltas),
        named_event({"type": "content_block_stop", **place}),
    ))  # fmt: skip


def _messages(description: str, feature: str, *frames: bytes) -> Quirk:
    """A stream of messages; its end is added."""
    stop = {"delta": {"stop_reason": "end_turn", "stop_sequence": None}}
    end = named_event({"type": "message_delta", **stop, "usage": {"output_tokens": 2}})
    body = b"".join((*frames, end, named_event({"type": "message_stop"})))
    return Quirk(description=description, feature=feature, wire="claude", stream=True, body=body)


_SAID = ({"type": "text", "text": ""}, {"type": "text_delta", "text": TEXT})
_HIDDEN = {"type": "redacted_thinking", "data": "aGlkZGVu"}
_CLAUDE = {
    "odd-start-twice": _messages(
        "the message starts twice", "duplicate_message_start", _START, _START, _block(0, *_SAID)
    ),
    "odd-pings": _messages(
        "pings between all frames", "ping_event", _START, _PING, _block(0, *_SAID), _PING
    ),
    "odd-redacted-thinking": _messages(
        "thinking that cannot be read", "redacted_thinking", _START, _block(0, _HIDDEN),
        _block(1, *_SAID),
    ),
}  # fmt: skip


def _candidate(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": content, "index": 0, **more}], "modelVersion": "m"}


def _parts(*texts: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text} for text in texts]}


_COUNTS = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}


def _content(description: str, feature: str, *answers: Mapping[str, Any]) -> Quirk:
    """A stream of generated content."""
    body = b"".join(map(data, answers))
    return Quirk(description=description, feature=feature, wire="gemini", stream=True, body=body)


_GEMINI = {
    "odd-no-parts": _content(
        "a last frame whose content has no parts", "no_parts_chunk", _candidate(_parts(TEXT)),
        {**_candidate({"role": "model"}, finishReason="STOP"), "usageMetadata": _COUNTS},
    ),
    "odd-empty-part": _content(
        "a part with an empty text", "empty_text_part", _candidate(_parts(TEXT)),
        {**_candidate(_parts(""), finishReason="STOP"), "usageMetadata": _COUNTS},
    ),
    "odd-whole-no-parts": Quirk(
        description="an answer whose content has no parts", feature="no_parts", wire="gemini",
        stream=False, content="nothing",
        body=encode({**_candidate({"role": "model"}, finishReason="MAX_TOKENS"),
                     "usageMetadata": _COUNTS}),
    ),
}  # fmt: skip

QUIRKS: Mapping[str, Quirk] = {**_CHAT, **_CLAUDE, **_GEMINI}
"""Each by the name it is ordered by."""


def find_quirks(wire: str) -> Sequence[tuple[str, Quirk]]:
    """The habits of vendors of one format, with their names."""
    return [(name, habit) for name, habit in QUIRKS.items() if habit.wire == wire]


def _spoiling(habit: Quirk) -> FaultFunction:
    def choice_body(scene: MockAnswer, _: int) -> MockResponse:
        same = (scene.dialect.id, scene.stream) == (habit.wire, habit.stream)
        return scene.response([habit.body]) if same else scene.response()

    return choice_body


ODD: Mapping[str, tuple[str, FaultFunction]] = {
    name: (f"odd but real: {habit.description}", _spoiling(habit)) for name, habit in QUIRKS.items()
}
"""Habits as faults; an answer in another format is as it should be."""
