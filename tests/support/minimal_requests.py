"""Minimal requests of every format, and their parts."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from request_probes import Json, Probe, at, says

FORMATS = ("openai", "openai-responses", "claude", "gemini", "ollama")
MODELS = {
    "openai": "gpt-5",
    "openai-responses": "gpt-5",
    "claude": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "qwen3",
}
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PDF = "JVBERi0xLjQKJcOkw7zDtsOfCg=="
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
PLAIN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WORD = "zebra-4711"
"""A value for features whose value is free, so that a probe can search for it."""


def base(wire: str) -> Json:
    """The minimal request of a format."""
    if wire == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    if wire == "openai-responses":
        return {"model": "m", "input": "hi"}
    turns = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    return {**turns, "max_tokens": 5000} if wire == "claude" else turns


def build_request(wire: str, members: Json) -> Json:
    return {**base(wire), **members}


def generation(**members: Any) -> Json:
    return {"generationConfig": members}


def options(**members: Any) -> Json:
    return {"options": members}


def chat(*messages: Json) -> Json:
    return {"messages": list(messages)}


def items(*entries: Json) -> Json:
    return {"input": list(entries)}


def contents(*entries: Json) -> Json:
    return {"contents": list(entries)}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def with_words(wire: str, part: Json) -> Json:
    """A user's turn with text and another part."""
    if wire == "gemini":
        return contents({"role": "user", "parts": [{"text": "what is this?"}, part]})
    word = {"type": "input_text" if wire == "openai-responses" else "text", "text": "what is this?"}
    turn = user([word, part])
    return items(turn) if wire == "openai-responses" else chat(turn)


ANY = {wire: says(WORD) for wire in FORMATS}

GPT_TOOL = {"type": "function", "function": {"name": WORD, "description": "d", "parameters": PLAIN}}
RESPONSES_TOOL = {"type": "function", "name": WORD, "description": "d", "parameters": PLAIN}
CLAUDE_TOOL = {"name": WORD, "description": "d", "input_schema": PLAIN}
GEMINI_TOOL = {"functionDeclarations": [{"name": WORD, "description": "d", "parameters": PLAIN}]}
TOOLS: Mapping[str, Json] = {
    "openai": {"tools": [GPT_TOOL]},
    "openai-responses": {"tools": [RESPONSES_TOOL]},
    "claude": {"tools": [CLAUDE_TOOL]},
    "gemini": {"tools": [GEMINI_TOOL]},
    "ollama": {"tools": [GPT_TOOL]},
}
TOOL_NAMES: Mapping[str, Probe] = {
    "openai": at("tools", 0, "function", "name", equals=WORD),
    "openai-responses": at("tools", 0, "name", equals=WORD),
    "claude": at("tools", 0, "name", equals=WORD),
    "gemini": at("tools", 0, "functionDeclarations", 0, "name", equals=WORD),
    "ollama": at("tools", 0, "function", "name", equals=WORD),
}


def with_tools(more: Mapping[str, Json]) -> Mapping[str, Json]:
    return {wire: {**TOOLS[wire], **members} for wire, members in more.items()}


def gpt_call(number: int) -> Json:
    arguments = json.dumps({"city": f"{WORD}-{number}"})
    function = {"name": "look", "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def history(wire: str, results: list[Any], failed: bool = False) -> Json:
    """A user's turn, a tool call for each result, and the results."""
    numbers = range(1, len(results) + 1)
    if wire == "openai":
        return chat(
            user("q"),
            {"role": "assistant", "content": None, "tool_calls": [gpt_call(n) for n in numbers]},
            *(
                {"role": "tool", "tool_call_id": f"call_{n}", "content": result}
                for n, result in zip(numbers, results, strict=True)
            ),
        )
    if wire == "ollama":
        calls = [
            {"function": {"name": "look", "arguments": {"city": f"{WORD}-{n}"}}} for n in numbers
        ]
        return chat(
            user("q"),
            {"role": "assistant", "content": "", "tool_calls": calls},
            *({"role": "tool", "tool_name": "look", "content": result} for result in results),
        )
    if wire == "openai-responses":
        calls = [
            {
                "type": "function_call",
                "call_id": f"call_{n}",
                "name": "look",
                "arguments": json.dumps({"city": f"{WORD}-{n}"}),
            }
            for n in numbers
        ]
        outputs = [
            {"type": "function_call_output", "call_id": f"call_{n}", "output": result}
            for n, result in zip(numbers, results, strict=True)
        ]
        return items({"role": "user", "content": "q"}, *calls, *outputs)
    if wire == "claude":
        uses = [
            {
                "type": "tool_use",
                "id": f"toolu_{n}",
                "name": "look",
                "input": {"city": f"{WORD}-{n}"},
            }
            for n in numbers
        ]
        reported = [
            {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": result}
            | ({"is_error": True} if failed else {})
            for n, result in zip(numbers, results, strict=True)
        ]
        return chat(user("q"), {"role": "assistant", "content": uses}, user(reported))
    calls = [{"functionCall": {"name": "look", "args": {"city": f"{WORD}-{n}"}}} for n in numbers]
    member = "error" if failed else "result"
    reported = [{"functionResponse": {"name": "look", "response": {member: r}}} for r in results]
    return contents(
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": reported},
    )


def everywhere(make: Callable[[str], Json], *without: str) -> Mapping[str, Json]:
    return {wire: make(wire) for wire in FORMATS if wire not in without}
