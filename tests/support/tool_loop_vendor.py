"""A vendor of every format that thinks, calls two tools at once, and then answers.

Like the real ones, a generative-content and a responses vendor show their thinking only to who
asks for it, and a messages vendor refuses a call that comes back without the thinking before it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_vendor import MockResponse, ReceivedRequest

THOUGHT, WORDS, DONE = "Two cities: é", "Let me look.", "Oslo is cold, Rome is warm: “ok”\u2028."
CALLS = [("weather", {"city": "Oslo", "n": 2**53 + 1}), ("weather", {"city": "Rome", "n": 1.5})]
RESULTS = ["cold\n", "warm"]
Json = dict[str, Any]


@dataclass
class ClientTurn:
    """The tool results in a request: ``results`` are (id, text), in order."""

    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(each.get("text", "") for each in content or ())


def _hear_chat(body: Json) -> ClientTurn:
    found = ClientTurn()
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            reported = call["function"]["arguments"]
            parsed = json.loads(reported) if isinstance(reported, str) else reported
            found.calls.append((call.get("id", ""), call["function"]["name"], parsed))
        if message["role"] == "tool":
            found.results.append((message.get("tool_call_id", ""), text_of(message["content"])))
    return found


def _hear_responses(body: Json) -> ClientTurn:
    found = ClientTurn()
    for item in body["input"] if isinstance(body["input"], list) else ():
        if item.get("type") == "function_call":
            found.calls.append((item["call_id"], item["name"], json.loads(item["arguments"])))
        elif item.get("type") == "function_call_output":
            found.results.append((item["call_id"], text_of(item["output"])))
    return found


def _hear_claude(body: Json) -> ClientTurn:
    found = ClientTurn()
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                found.calls.append((block["id"], block["name"], block["input"]))
            elif block["type"] == "tool_result":
                found.results.append((block["tool_use_id"], text_of(block["content"])))
    return found


def _hear_gemini(body: Json) -> ClientTurn:
    found = ClientTurn()
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                call = part["functionCall"]
                found.calls.append((call.get("id", ""), call["name"], call["args"]))
            elif "functionResponse" in part:
                reported = part["functionResponse"]
                found.results.append((reported.get("id", ""), reported["response"]["result"]))
    return found


HEAR: Mapping[str, Callable[[Json], ClientTurn]] = {
    "openai": _hear_chat,
    "openai-responses": _hear_responses,
    "claude": _hear_claude,
    "gemini": _hear_gemini,
    "ollama": _hear_chat,
}


def vendor(wire: str) -> Callable[[ReceivedRequest], MockResponse]:
    """Calls the tools until a request contains their results."""

    def say(received: ReceivedRequest) -> MockResponse:
        body = received.json()
        is_stream = body.get("stream") is True or "streamGenerateContent" in received.target
        if wire == "claude" and _lacks_thinking(body):
            return MockResponse((json.dumps(_LACKS_THINKING).encode(),), 400)
        whole, frames = _ANSWERS[wire](bool(HEAR[wire](body).results), _shows_thinking(wire, body))
        if not is_stream:
            return MockResponse((json.dumps(whole).encode(),))
        if wire == "ollama":
            lines = [json.dumps(line).encode() + b"\n" for line in frames]
            return MockResponse.stream(*lines, content_type="application/x-ndjson")
        return MockResponse.stream(*map(_framed, frames), content_type="text/event-stream")

    return say


_LACKS_THINKING = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "Expected `thinking`, but found `tool_use`",
    },
}


def _lacks_thinking(body: Json) -> bool:
    """Whether an assistant's calls came back without the thinking that led to them.
    https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks
    """
    if body.get("thinking", {}).get("type") not in ("enabled", "adaptive"):
        return False
    turns = [m["content"] for m in body["messages"] if m["role"] == "assistant"]
    return any(
        turn[0]["type"] != "thinking"
        for turn in turns
        if any(block["type"] == "tool_use" for block in turn)
    )


def _shows_thinking(wire: str, body: Json) -> bool:
    if wire == "gemini":
        thinking: Json = body.get("generationConfig", {}).get("thinkingConfig", {})
        # The vendor takes both spellings, and its own library uses the second.
        return True in (thinking.get("includeThoughts"), thinking.get("include_thoughts"))
    if wire == "openai-responses":
        return body.get("reasoning", {}).get("summary") not in (None, "none")
    return True


def _framed(frame: Any) -> bytes:
    if isinstance(frame, bytes):
        return frame
    name = f"event: {frame['type']}\n" if "type" in frame else ""
    return f"{name}data: {json.dumps(frame, ensure_ascii=False)}\n\n".encode()


def _halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def _chat(is_done: bool, shows_thinking: bool) -> tuple[Json, Sequence[Any]]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(a)}}
        for n, (name, a) in enumerate(CALLS)
    ]
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    written: Json = {"role": "assistant", "content": DONE}
    if not is_done:
        written = {**written, "content": WORDS, "reasoning_content": THOUGHT, "tool_calls": calls}
    word = "stop" if is_done else "tool_calls"
    choice = {"index": 0, "message": written, "finish_reason": word}
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    for member in ("reasoning_content", "content"):
        deltas += ({member: half} for half in _halves(written.get(member, "")) if half)
    for n, call in enumerate(calls if not is_done else ()):
        function: Json = call["function"]
        begun = {**call, "index": n, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
    for n, call in enumerate(calls if not is_done else ()):  # by turns
        for half in _halves(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": n, "function": {"arguments": half}}]})
    frames = [
        *({**head, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas),
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": word}]},
        {**head, "choices": [], "usage": usage},
        b"data: [DONE]\n\n",
    ]
    kind = {"object": "chat.completion.chunk"}
    reported = [frame if isinstance(frame, bytes) else {**frame, **kind} for frame in frames]
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}, reported


def _responses(is_done: bool, shows_thinking: bool) -> tuple[Json, Sequence[Any]]:
    content = {"type": "output_text", "text": DONE if is_done else WORDS, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    output: list[Json] = [{**message, "content": [content]}]
    if not is_done:
        summary = [{"type": "summary_text", "text": THOUGHT}] if shows_thinking else []
        output.insert(0, {"id": "rs_1", "type": "reasoning", "summary": summary})
        output += (
            {
                "id": f"fc_{n}",
                "type": "function_call",
                "call_id": f"c{n}",
                "name": name,
                "arguments": json.dumps(a),
                "status": "completed",
            }
            for n, (name, a) in enumerate(CALLS)
        )
    answer = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    }
    frames: list[Json] = [{"type": "response.created", "response": {**answer, "output": []}}]
    for place, item in enumerate(output):
        frames += _item_frames(place, item)
    frames.append({"type": "response.completed", "response": answer})
    return answer, [{**frame, "sequence_number": n} for n, frame in enumerate(frames)]


def _item_frames(place: int, item: Json) -> list[Json]:
    where: Json = {"output_index": place, "item_id": item["id"]}
    empty = {"content": []} if "content" in item else {"summary": []}
    empty = {"arguments": ""} if "arguments" in item else empty
    frames = [{"type": "response.output_item.added", **where, "item": {**item, **empty}}]
    if item["type"] == "message":
        part = item["content"][0]
        at = {**where, "content_index": 0}
        bare = {**part, "text": ""}
        frames.append({"type": "response.content_part.added", **at, "part": bare})
        frames += _grown("response.output_text", at, part["text"])
        frames.append({"type": "response.output_text.done", **at, "text": part["text"]})
        frames.append({"type": "response.content_part.done", **at, "part": part})
    elif item["type"] == "reasoning":
        for part in item["summary"]:
            at = {**where, "summary_index": 0}
            bare = {**part, "text": ""}
            frames.append({"type": "response.reasoning_summary_part.added", **at, "part": bare})
            frames += _grown("response.reasoning_summary_text", at, part["text"])
    else:
        kind = "response.function_call_arguments"
        frames += _grown(kind, where, item["arguments"])
        frames.append({"type": f"{kind}.done", **where, "arguments": item["arguments"]})
    return [*frames, {"type": "response.output_item.done", **where, "item": item}]


def _grown(kind: str, where: Json, text: str) -> list[Json]:
    return [{"type": f"{kind}.delta", **where, "delta": half} for half in _halves(text)]


def _claude(is_done: bool, shows_thinking: bool) -> tuple[Json, Sequence[Any]]:
    content: list[Json] = [{"type": "text", "text": DONE if is_done else WORDS}]
    if not is_done:
        content.insert(0, {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"})
        content += (
            {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": a}
            for n, (name, a) in enumerate(CALLS)
        )
    word = "end_turn" if is_done else "tool_use"
    head: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 3, "output_tokens": 5}
    ending = {"stop_reason": word, "stop_sequence": None}
    start = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    frames: list[Json] = [{"type": "message_start", "message": start}]
    for place, block in enumerate(content):
        frames += _block_frames(place, block)
    frames.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}})
    frames.append({"type": "message_stop"})
    return {**head, "content": content, **ending, "usage": usage}, frames


def _block_frames(place: int, block: Json) -> list[Json]:
    member = {"text": "text", "thinking": "thinking", "tool_use": "input"}[block["type"]]
    held = block[member]
    text, bare = (held, "") if isinstance(held, str) else (json.dumps(held), {})
    start = {**block, member: bare} | ({"signature": ""} if "signature" in block else {})
    kinds = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}
    kind, name = kinds.get(member, ("input_json_delta", "partial_json"))
    deltas = [{"type": kind, name: half} for half in _halves(text)]
    if "signature" in block:
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return [
        {"type": "content_block_start", "index": place, "content_block": start},
        *({"type": "content_block_delta", "index": place, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": place},
    ]


def _gemini(is_done: bool, shows_thinking: bool) -> tuple[Json, Sequence[Any]]:
    calls = [{"functionCall": {"name": name, "args": a}} for name, a in CALLS]
    parts: list[Json] = [{"text": DONE}]
    if not is_done:
        signed = {**calls[0], "thoughtSignature": "c2ln"}
        parts = [{"text": WORDS}, signed, *calls[1:]]
        if shows_thinking:
            parts.insert(0, {"text": THOUGHT, "thought": True})
    head: Json = {"modelVersion": "m", "responseId": "r"}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8}

    def piece(reported: Sequence[Json], **more: Any) -> Json:
        candidate = {"content": {"role": "model", "parts": reported}, "index": 0, **more}
        return {**head, "candidates": [candidate], "usageMetadata": usage}

    frames: list[Json] = []
    for part in parts:
        halves = _halves(part["text"]) if "text" in part else []
        frames += (piece([{**part, "text": half}]) for half in halves)
    called = [part for part in parts if "text" not in part]
    frames.append(piece(called or [{"text": ""}], finishReason="STOP"))
    return piece(parts, finishReason="STOP"), frames


def _ollama(is_done: bool, shows_thinking: bool) -> tuple[Json, Sequence[Any]]:
    head: Json = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 5}
    written: Json = {"role": "assistant", "content": DONE}
    if not is_done:
        calls = [{"function": {"name": name, "arguments": a}} for name, a in CALLS]
        written = {**written, "content": WORDS, "thinking": THOUGHT, "tool_calls": calls}

    def line(**members: Any) -> Json:
        message = {"role": "assistant", "content": "", **members}
        return {**head, "message": message, "done": False}

    lines = [line(thinking=half) for half in _halves(written.get("thinking", "")) if half]
    lines += (line(content=half) for half in _halves(written["content"]))
    lines += (line(tool_calls=[call]) for call in written.get("tool_calls", ()))
    return {**head, "message": written, **end}, [*lines, {**line(), **end}]


_ANSWERS: Mapping[str, Callable[[bool, bool], tuple[Json, Sequence[Any]]]] = {
    "openai": _chat,
    "openai-responses": _responses,
    "claude": _claude,
    "gemini": _gemini,
    "ollama": _ollama,
}
