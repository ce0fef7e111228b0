"""Responses: items that are added, grow and are done, and the whole answer at the end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .content import Content, TokenCounts, ToolUse
from .frames import Dialect, Frame, FrameRole, data, encode, halves, named_event

TypedEvent = tuple[FrameRole, dict[str, Any]]


def whole(content: Content, model: str) -> bytes:
    return encode(_response(content, model))


def stream(content: Content, model: str) -> Sequence[Frame]:
    return [
        Frame(does, named_event({**event, "sequence_number": number}))
        for number, (does, event) in enumerate(_events(content, model))
    ]


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


def _events(content: Content, model: str) -> Iterator[TypedEvent]:
    done = _response(content, model)
    unfinished = {**done, "status": "in_progress", "output": [], "usage": None}
    yield "start", {"type": "response.created", "response": unfinished}
    yield "start", {"type": "response.in_progress", "response": unfinished}
    for index, item in enumerate(_items(content)):
        place = {"item_id": item["id"], "output_index": index}
        yield from _item_events(content, item, place)
    yield "finish", {"type": "response.completed", "response": done}


def _item_events(
    content: Content, item: Mapping[str, Any], place: Mapping[str, Any]
) -> Iterator[TypedEvent]:
    index = {"output_index": place["output_index"]}
    if item["type"] == "reasoning":
        does, empty, inner = "thinking", {**item, "summary": []}, _thinking(content, place)
    elif item["type"] == "message":
        empty = {**item, "status": "in_progress", "content": []}
        does, inner = "text", _text(content, place)
    else:
        empty = {**item, "status": "in_progress", "arguments": ""}
        does, inner = "call", _arguments(item["arguments"], place)
    kind: FrameRole = does  # type: ignore[assignment]
    yield kind, {"type": "response.output_item.added", **index, "item": empty}
    for event in inner:
        yield kind, event
    yield kind, {"type": "response.output_item.done", **index, "item": item}


def _thinking(content: Content, place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    place = {**place, "summary_index": 0}
    text = "".join(content.thinking)
    kind = "response.reasoning_summary"
    part = {"type": "summary_text", "text": ""}
    yield {"type": f"{kind}_part.added", **place, "part": part}
    for piece in content.thinking:
        yield {"type": f"{kind}_text.delta", **place, "delta": piece}
    yield {"type": f"{kind}_text.done", **place, "text": text}
    yield {"type": f"{kind}_part.done", **place, "part": {**part, "text": text}}


def _text(content: Content, place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    place = {**place, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": _part("")}
    for piece in content.text:
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    yield {"type": "response.output_text.done", **place, "text": content.words}
    yield {"type": "response.content_part.done", **place, "part": _part(content.words)}


def _arguments(arguments: str, place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "response.function_call_arguments"
    for piece in halves(arguments):
        yield {"type": f"{kind}.delta", **place, "delta": piece}
    yield {"type": f"{kind}.done", **place, "arguments": arguments}


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
