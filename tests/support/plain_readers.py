"""Plain readers of vendors' responses: text and tool calls straight from the JSON.

Independent of the gateway's own readers on purpose: they know no canonical form,
events or rare cases, only where each format keeps text and tool calls.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Outcome:
    """``calls`` are (name, parsed arguments) in order."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0


def frames(stream: bytes) -> Iterator[Any]:
    """Yield the JSON of every SSE data line; other lines are skipped."""
    for line in stream.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            try:
                yield json.loads(line[5:])
            except ValueError:
                continue


def arguments(text: Any) -> Any:
    if not isinstance(text, str):
        return text or {}
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return text


def content_text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(p.get("text") or "" for p in content if p.get("type") == "text")
    return content or ""


def openai(body: bytes) -> Outcome:
    answer = json.loads(body)
    message = answer["choices"][0]["message"]
    calls = [call_of(call) for call in message.get("tool_calls") or []]
    usage = answer.get("usage") or {}
    return Outcome(
        content_text(message.get("content")),
        calls,
        usage.get("prompt_tokens") or 0,
        usage.get("completion_tokens") or 0,
    )


def call_of(call: dict[str, Any]) -> tuple[str, Any]:
    if call.get("type") == "custom":
        return call["custom"]["name"], call["custom"]["input"]
    return call["function"]["name"], arguments(call["function"].get("arguments"))


def openai_stream(stream: bytes) -> Outcome:
    found, calls = Outcome(), {}
    for chunk in frames(stream):
        usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage") or {}
        found.input_tokens = usage.get("prompt_tokens") or found.input_tokens
        found.output_tokens = usage.get("completion_tokens") or found.output_tokens
        for choice in chunk.get("choices") or []:
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            found.text += content_text(delta.get("content"))
            for call in delta.get("tool_calls") or []:
                custom = call.get("custom") or {}
                function = call.get("function") or {**custom, "arguments": custom.get("input")}
                index = call.get("index", len(calls) if function.get("name") else len(calls) - 1)
                held = calls.setdefault(index, ["", ""])
                held[0] = held[0] or function.get("name") or ""
                held[1] += function.get("arguments") or ""
    found.calls = [(name, arguments(text)) for name, text in calls.values()]
    return found


def responses(body: bytes) -> Outcome:
    return response_outcome(json.loads(body))


def response_outcome(answer: dict[str, Any]) -> Outcome:
    found = Outcome()
    for item in answer.get("output") or []:
        if item["type"] == "message":
            found.text += "".join(
                part.get("text") or "" for part in item["content"] if part["type"] == "output_text"
            )
        elif item["type"] == "function_call":
            found.calls.append((item["name"], arguments(item.get("arguments"))))
        elif item["type"] == "custom_tool_call":
            found.calls.append((item["name"], item["input"]))
    usage = answer.get("usage") or {}
    found.input_tokens = usage.get("input_tokens") or 0
    found.output_tokens = usage.get("output_tokens") or 0
    return found


def responses_stream(stream: bytes) -> Outcome:
    last, done = {}, []
    for event in frames(stream):
        if event.get("type") in ("response.completed", "response.incomplete"):
            last = event["response"]
        elif event.get("type") == "response.output_item.done":
            done.append(event["item"])
    return response_outcome({**last, "output": last.get("output") or done})


def claude(body: bytes) -> Outcome:
    answer = json.loads(body)
    found = Outcome()
    for block in answer["content"]:
        if block["type"] == "text":
            found.text += block["text"]
        elif block["type"] == "tool_use":
            found.calls.append((block["name"], block["input"]))
    count_claude(found, answer.get("usage") or {})
    return found


def count_claude(found: Outcome, usage: dict[str, Any]) -> None:
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    if any(usage.get(kind) for kind in kinds):
        found.input_tokens = sum(usage.get(kind) or 0 for kind in kinds)
    found.output_tokens = usage.get("output_tokens") or found.output_tokens


def claude_stream(stream: bytes) -> Outcome:
    found, blocks = Outcome(), {}
    for event in frames(stream):
        kind = event.get("type")
        if kind == "message_start":
            count_claude(found, event["message"].get("usage") or {})
        elif kind == "message_delta":
            count_claude(found, event.get("usage") or {})
        elif kind == "content_block_start":
            blocks[event["index"]] = [event["content_block"], ""]
        elif kind == "content_block_delta":
            delta = event["delta"]
            grown = (
                delta.get("text") if delta["type"] == "text_delta" else delta.get("partial_json")
            )
            blocks[event["index"]][1] += grown or ""
    for block, grown in blocks.values():
        if block["type"] == "text":
            found.text += (block.get("text") or "") + grown
        elif block["type"] == "tool_use":
            found.calls.append((block["name"], arguments(grown) if grown else block["input"]))
    return found


def gemini(body: bytes) -> Outcome:
    answer = json.loads(body)
    found = Outcome()
    for part in gemini_parts(answer):
        add_gemini_part(found, part)
    count_gemini(found, answer)
    return found


def gemini_parts(answer: dict[str, Any]) -> list[dict[str, Any]]:
    for candidate in answer.get("candidates") or []:
        if candidate.get("index", 0) == 0:
            return (candidate.get("content") or {}).get("parts") or []
    return []


def add_gemini_part(found: Outcome, part: dict[str, Any]) -> None:
    if "functionCall" in part:
        found.calls.append((part["functionCall"]["name"], part["functionCall"].get("args") or {}))
    elif not part.get("thought"):
        found.text += part.get("text") or ""


def count_gemini(found: Outcome, answer: dict[str, Any]) -> None:
    usage = answer.get("usageMetadata") or {}
    written = (usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0)
    prompt = (usage.get("promptTokenCount") or 0) + (usage.get("toolUsePromptTokenCount") or 0)
    found.input_tokens, found.output_tokens = (
        prompt or found.input_tokens,
        written or found.output_tokens,
    )


def gemini_stream(stream: bytes) -> Outcome:
    found = Outcome()
    for answer in frames(stream):
        for part in gemini_parts(answer):
            add_gemini_part(found, part)
        count_gemini(found, answer)
    return found


def ollama(body: bytes) -> Outcome:
    return ollama_stream(body)


def ollama_stream(stream: bytes) -> Outcome:
    found = Outcome()
    for line in stream.splitlines():
        if not line.strip():
            continue
        answer = json.loads(line)
        message = answer.get("message") or {}
        found.text += message.get("content") or ""
        found.calls += [
            (call["function"]["name"], call["function"].get("arguments") or {})
            for call in message.get("tool_calls") or []
        ]
        found.input_tokens = answer.get("prompt_eval_count") or found.input_tokens
        found.output_tokens = answer.get("eval_count") or found.output_tokens
    return found


Read = Callable[[bytes], Outcome]
WHOLE: dict[str, Read] = {
    "openai": openai,
    "openai-responses": responses,
    "claude": claude,
    "gemini": gemini,
    "ollama": ollama,
}
STREAM: dict[str, Read] = {
    "openai": openai_stream,
    "openai-responses": responses_stream,
    "claude": claude_stream,
    "gemini": gemini_stream,
    "ollama": ollama_stream,
}


def read(wire: str, body: bytes, *, stream: bool) -> Outcome:
    """Read a response in this wire format."""
    return (STREAM if stream else WHOLE)[wire](body)
