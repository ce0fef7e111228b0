"""Responses: items that are added, grow and are done, and the whole answer at the end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, FrameRole, data, encode, halves, named_event

TypedEvent = tuple[str, dict[str, Any]]
"""An event's type without its prefix, and its own members."""


def whole(content: Content, model: str) -> bytes:
    return encode(_response(content, model))


def stream(content: Content, model: str) -> Sequence[Frame]:
    frames: list[Frame] = []

    def add(role: FrameRole, kind: str, **members: Any) -> None:
        event = {"type": f"response.{kind}", **members, "sequence_number": len(frames)}
        frames.append(Frame(role, named_event(event)))

    done = _response(content, model)
    unfinished = {**done, "status": "in_progress", "output": [], "usage": None}
    add("start", "created", response=unfinished)
    add("start", "in_progress", response=unfinished)
    for index, item in enumerate(_items(content)):
        role, empty = _UNFINISHED[item["type"]]
        add(role, "output_item.added", output_index=index, item={**item, **empty})
        for kind, members in _ITEM_EVENTS[role](content, item):
            add(role, kind, item_id=item["id"], output_index=index, **members)
        add(role, "output_item.done", output_index=index, item=item)
    add("finish", "completed", response=done)
    return frames


def _response(content: Content, model: str) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": model,
        "status": "completed",
        "output": list(_items(content)),
        "usage": _usage(content.usage),
    }


def _items(content: Content) -> Iterator[dict[str, Any]]:
    if content.thinking:
        yield _thought("".join(content.thinking))
    if content.text:
        yield {**_MESSAGE, "status": "completed", "content": [_part(content.words)]}
    for call in content.calls:
        yield _call(call, encode(call.arguments).decode(), "completed")


_MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant"}


def _thought(text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": "rs_1", "summary": summary}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def _call(call: ToolUse, arguments: str, status: str) -> dict[str, Any]:
    named_call = {"call_id": call.id, "name": call.name, "arguments": arguments}
    return {"type": "function_call", "id": f"fc_{call.id}", "status": status, **named_call}


def thinking_events(content: Content, item: Mapping[str, Any]) -> Iterator[TypedEvent]:
    part = {"type": "summary_text", "text": ""}
    text = "".join(content.thinking)
    kind, place = "reasoning_summary", {"summary_index": 0}
    yield f"{kind}_part.added", {**place, "part": part}
    for piece in content.thinking:
        yield f"{kind}_text.delta", {**place, "delta": piece}
    yield f"{kind}_text.done", {**place, "text": text}
    yield f"{kind}_part.done", {**place, "part": {**part, "text": text}}


def text_events(content: Content, item: Mapping[str, Any]) -> Iterator[TypedEvent]:
    place = {"content_index": 0}
    yield "content_part.added", {**place, "part": _part("")}
    for piece in content.text:
        yield "output_text.delta", {**place, "delta": piece}
    yield "output_text.done", {**place, "text": content.words}
    yield "content_part.done", {**place, "part": _part(content.words)}


def call_events(content: Content, item: Mapping[str, Any]) -> Iterator[TypedEvent]:
    kind = "function_call_arguments"
    for piece in halves(item["arguments"]):
        yield f"{kind}.delta", {"delta": piece}
    yield f"{kind}.done", {"arguments": item["arguments"]}


_UNFINISHED: dict[str, tuple[FrameRole, dict[str, Any]]] = {
    "reasoning": ("thinking", {"summary": []}),
    "message": ("text", {"status": "in_progress", "content": []}),
    "function_call": ("call", {"status": "in_progress", "arguments": ""}),
}
"""By an item's type: the role of its frames, and what its first event has instead."""
_ITEM_EVENTS: dict[FrameRole, Callable[[Content, Mapping[str, Any]], Iterator[TypedEvent]]] = {
    "thinking": thinking_events,
    "text": text_events,
    "call": call_events,
}


def _usage(usage: TokenCounts | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def refusal(text: str, status: int) -> bytes:
    return encode({"error": {"message": text, "type": "refused", "param": None, "code": None}})


def broken(text: str) -> bytes:
    return data({"type": "error", "code": "server_error", "message": text, "param": None})


RESPONSES = Dialect(
    id="openai-responses", whole=whole, stream=stream, refusal=refusal, broken=broken
)
