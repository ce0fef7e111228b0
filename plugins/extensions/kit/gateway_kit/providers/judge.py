"""Strict readers of what clients get, in each format that clients of the kit speak.

The gateway's own readers are made for vendors: they take whatever makes sense. A client's library
does not, so the members, types and order that its vendor documents are checked here one by one.

https://platform.openai.com/docs/api-reference/chat,
https://platform.openai.com/docs/api-reference/responses-streaming,
https://platform.claude.com/docs/en/build-with-claude/streaming,
https://ai.google.dev/api/generate-content, https://docs.ollama.com/api/chat
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from gateway_kit.mock_vendor import Content

Rows = list[dict[str, Any]]
Judge = Callable[[Rows, Content], Iterator[str]]


class Unreadable(ValueError):
    """A body or a frame is no JSON object. The message says what it is."""


def faults(client: str, body: bytes, content: Content, *, stream: bool) -> list[str]:
    """What a client's library would stumble over, in sentences."""
    try:
        if not stream:
            return list(_WHOLE[client]([_object(body)], content))
        rows = _lines(body) if client == "ollama" else _frames(body, named=client in _NAMED)
        return list(_STREAMED[client](rows, content))
    except Unreadable as error:
        return [str(error)]
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        return [f"a member is missing or of another kind: {type(error).__name__}: {error}"]


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreadable(f"{text[:80]!r} is no JSON") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{text[:80]!r} is no object")
    return value


def _lines(body: bytes) -> Rows:
    if not body.endswith(b"\n"):
        raise Unreadable("the last line does not end")
    return [_object(line) for line in body.splitlines() if line.strip()]


def _frames(body: bytes, *, named: bool) -> Rows:
    """The events' data, ``[DONE]`` as an empty object."""
    rows: Rows = []
    for block in re.split(rb"\r?\n\r?\n", body.strip()):
        fields = [line.partition(b":") for line in block.splitlines() if not line.startswith(b":")]
        data = b"\n".join(text.removeprefix(b" ") for name, _, text in fields if name == b"data")
        event = b"".join(text.strip() for name, _, text in fields if name == b"event").decode()
        if not data:
            continue
        row = {} if data == b"[DONE]" else _object(data)
        if named and event != row.get("type"):
            raise Unreadable(f"the event {event!r} holds one of type {row.get('type')!r}")
        rows.append(row)
    if not rows:
        raise Unreadable("there is no event")
    return rows


def _are(row: dict[str, Any], kinds: dict[str, Any]) -> Iterator[str]:
    """Members that are missing or of another kind; a text must not be empty."""
    for name, kind in kinds.items():
        value = row.get(name)
        wanted = kind if isinstance(kind, type | tuple) else type(kind)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            yield f"{name} is {value!r}"
        elif not isinstance(kind, type | tuple) and value != kind:
            yield f"{name} is {value!r}, not {kind!r}"
        elif value == "" and kind is str:
            yield f"{name} is empty"


def _counted(usage: Any, names: tuple[str, str], content: Content) -> Iterator[str]:
    if content.usage is None:
        return
    if not isinstance(usage, dict):
        yield f"the usage is {usage!r}"
        return
    expected = (content.usage.input, content.usage.output)
    for name, number in zip(names, expected, strict=True):
        if usage.get(name) != number:
            yield f"{name} is {usage.get(name)!r}, not {number}"
    total = usage.get("total_tokens", usage.get("totalTokenCount"))
    if total is not None and total != sum(expected):
        yield f"the total is {total}, not {sum(expected)}"


def _unique(ids: Iterable[Any], what: str) -> Iterator[str]:
    for id, count in Counter(ids).items():
        if not isinstance(id, str) or not id:
            yield f"the id of a {what} is {id!r}"
        elif count > 1:
            yield f"{count} of them have the {what} id {id!r}"


def _ends(seen: Any, content: Content, stop: str, calls: str) -> Iterator[str]:
    wanted = calls if content.calls else stop
    if seen != wanted:
        yield f"the reason to end is {seen!r}, not {wanted!r}"


def _chat(rows: Rows, content: Content) -> Iterator[str]:
    [row] = rows
    yield from _are(row, {"id": str, "object": "chat.completion", "created": int, "model": str})
    [choice] = row["choices"]
    message = choice["message"]
    yield from _are(choice, {"index": 0})
    yield from _are(message, {"role": "assistant"})
    if "content" not in message or not isinstance(message["content"], str | None):
        yield f"content is {message.get('content', 'missing')!r}"
    calls = message.get("tool_calls") or []
    for call in calls:
        yield from _are(call, {"type": "function"})
        yield from _are(call["function"], {"name": str, "arguments": str})
    yield from _unique((call.get("id") for call in calls), "call")
    yield from _ends(choice.get("finish_reason"), content, "stop", "tool_calls")
    yield from _counted(row.get("usage"), ("prompt_tokens", "completion_tokens"), content)


def _chat_stream(rows: Rows, content: Content) -> Iterator[str]:
    *chunks, last = rows
    if last:
        yield "the stream does not end with [DONE]"
        return
    kinds = {"id": str, "object": "chat.completion.chunk", "created": int, "model": str}
    for chunk in chunks:
        yield from _are(chunk, kinds)
    if len({chunk["id"] for chunk in chunks}) != 1:
        yield "the chunks have several ids"
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    finishes = [each["finish_reason"] for each in choices if each.get("finish_reason") is not None]
    if len(finishes) != 1:
        yield f"it ends {len(finishes)} times"
    yield from _ends(finishes[-1] if finishes else None, content, "stop", "tool_calls")
    if choices[0]["delta"].get("role") != "assistant":
        yield "the first delta has no role"
    ids: dict[int, str] = {}
    for piece in (each for c in choices for each in c["delta"].get("tool_calls") or ()):
        if piece["index"] not in ids:
            ids[piece["index"]] = piece.get("id")
            yield from _are(piece["function"], {"name": str})
        elif piece.get("id") not in (None, "", ids[piece["index"]]):
            yield f"a call changes its id to {piece['id']!r}"
    yield from _unique(ids.values(), "call")
    if sorted(ids) != list(range(len(ids))):
        yield f"the calls have the places {sorted(ids)}"
    usages = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    counted = usages[-1] if usages else None
    yield from _counted(counted, ("prompt_tokens", "completion_tokens"), content)


_BLOCKS: dict[str, dict[str, Any]] = {
    "text": {"text": str},
    "thinking": {"thinking": str, "signature": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "redacted_thinking": {"data": str},
}


def _messages(rows: Rows, content: Content) -> Iterator[str]:
    [row] = rows
    kinds = {"id": str, "type": "message", "role": "assistant", "model": str, "content": list}
    yield from _are(row, kinds)
    for block in row["content"]:
        wanted = dict(_BLOCKS.get(block["type"], {}))
        # Thinking of another vendor has no signature that this one could check.
        wanted.pop("signature", None)
        yield from _are(block, wanted)
    yield from _unique(
        (each["id"] for each in row["content"] if each["type"] == "tool_use"), "call"
    )
    if "stop_sequence" not in row:
        yield "stop_sequence is missing"
    yield from _ends(row.get("stop_reason"), content, "end_turn", "tool_use")
    yield from _counted(row.get("usage"), ("input_tokens", "output_tokens"), content)


def _messages_stream(rows: Rows, content: Content) -> Iterator[str]:
    rows = [row for row in rows if row["type"] != "ping"]
    types = " ".join(row["type"] for row in rows) + " "
    block = "content_block_start (content_block_delta )*content_block_stop "
    if not re.fullmatch(f"message_start ({block})*message_delta message_stop ", types):
        yield f"the events are {types}"
        return
    message = rows[0]["message"]
    yield from _are(message, {"id": str, "type": "message", "role": "assistant", "model": str})
    if message["content"] != [] or message.get("stop_reason") is not None:
        yield "the message is not empty when it starts"
    at, ids = -1, []
    for row in rows[1:-2]:
        at += row["type"] == "content_block_start"
        yield from _are(row, {"index": at})
        if row["type"] == "content_block_start" and row["content_block"]["type"] == "tool_use":
            ids.append(row["content_block"]["id"])
            yield from _are(row["content_block"], {"name": str, "input": {}})
    yield from _unique(ids, "call")
    end = rows[-2]
    yield from _ends(end["delta"].get("stop_reason"), content, "end_turn", "tool_use")
    usage = {**message.get("usage", {}), **(end.get("usage") or {})}
    yield from _counted(usage, ("input_tokens", "output_tokens"), content)


def _generated(rows: Rows, content: Content) -> Iterator[str]:
    for row in rows:
        for candidate in row.get("candidates", []):
            parts = candidate.get("content", {}).get("parts", [])
            if parts:
                yield from _are(candidate["content"], {"role": "model"})
            for part in parts:
                if "functionCall" in part:
                    yield from _are(part["functionCall"], {"name": str, "args": dict})
                elif not isinstance(part.get("text"), str):
                    yield f"a part is {part!r}"
    ends = [c.get("finishReason") for row in rows for c in row.get("candidates", [])]
    if [each for each in ends if each is not None] != ["STOP"]:
        yield f"the reasons to end are {ends}"
    usages = [row["usageMetadata"] for row in rows if "usageMetadata" in row]
    usage = dict(usages[-1]) if usages else None
    if usage is not None and usage.get("thoughtsTokenCount"):
        usage["candidatesTokenCount"] += usage["thoughtsTokenCount"]
    yield from _counted(usage, ("promptTokenCount", "candidatesTokenCount"), content)


def _local(rows: Rows, content: Content) -> Iterator[str]:
    # A line of the gateway's own says what was dropped.
    rows = [row for row in rows if "x-gateway-dropped" not in row]
    for number, row in enumerate(rows):
        yield from _are(row, {"model": str, "created_at": str, "message": dict})
        datetime.fromisoformat(row["created_at"])
        yield from _are(row["message"], {"role": "assistant"})
        if not isinstance(row["message"].get("content"), str):
            yield f"content is {row['message'].get('content')!r}"
        if row.get("done") is not (number == len(rows) - 1):
            yield f"done is {row.get('done')!r} in line {number + 1} of {len(rows)}"
        for call in row["message"].get("tool_calls") or []:
            yield from _are(call["function"], {"name": str, "arguments": dict})
    yield from _ends(rows[-1].get("done_reason"), content, "stop", "stop")
    yield from _counted(rows[-1], ("prompt_eval_count", "eval_count"), content)


def _response(rows: Rows, content: Content) -> Iterator[str]:
    [row] = rows
    kinds = {"id": str, "object": "response", "created_at": (int, float), "model": str}
    yield from _are(row, {**kinds, "status": "completed", "output": list})
    yield from _unique((item.get("id") for item in row["output"]), "item")
    for item in row["output"]:
        if item["type"] == "message":
            yield from _are(item, {"role": "assistant", "status": "completed", "content": list})
            for part in item["content"]:
                if part["type"] == "output_text":
                    yield from _are(part, {"text": str, "annotations": list})
        elif item["type"] == "function_call":
            yield from _are(item, {"call_id": str, "name": str, "arguments": str})
    calls = [item.get("call_id") for item in row["output"] if item["type"] == "function_call"]
    yield from _unique(calls, "call")
    yield from _counted(row.get("usage"), ("input_tokens", "output_tokens"), content)


def _response_stream(rows: Rows, content: Content) -> Iterator[str]:
    numbers = [row.get("sequence_number") for row in rows]
    if numbers != list(range(len(rows))):
        yield f"the events are numbered {numbers}"
    if (rows[0]["type"], rows[-1]["type"]) != ("response.created", "response.completed"):
        yield f"it goes from {rows[0]['type']} to {rows[-1]['type']}"
        return
    final = rows[-1]["response"]
    if rows[0]["response"]["id"] != final["id"]:
        yield "the response changes its id"
    added = [row["item"]["id"] for row in rows if row["type"] == "response.output_item.added"]
    done = [row["item"]["id"] for row in rows if row["type"] == "response.output_item.done"]
    if not added == done == [item["id"] for item in final["output"]]:
        yield f"items are added as {added}, done as {done}, and at the end others"
    grown: dict[str, str] = {}
    for row in rows:
        if row["type"].endswith("output_text.delta"):
            grown[row["item_id"]] = grown.get(row["item_id"], "") + row["delta"]
    for item in final["output"]:
        if item["type"] == "message":
            text = "".join(part.get("text", "") for part in item["content"])
            if grown.get(item["id"], "") != text:
                yield "the deltas are not the text at the end"
    yield from _response([final], content)


_NAMED = frozenset({"claude", "openai-responses"})
"""Formats whose events have a name, which is their type."""
_WHOLE: dict[str, Judge] = {
    "openai": _chat,
    "claude": _messages,
    "gemini": _generated,
    "ollama": _local,
    "openai-responses": _response,
}
_STREAMED: dict[str, Judge] = {
    "openai": _chat_stream,
    "claude": _messages_stream,
    "gemini": _generated,
    "ollama": _local,
    "openai-responses": _response_stream,
}
