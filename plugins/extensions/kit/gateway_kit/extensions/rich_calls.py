"""Calls with everything in them that a client may send, in each client format.

Each text in them occurs nowhere else, so that what an interceptor loses, moves or mixes up is seen.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import Call, Kind
from gateway_core.pipeline.interceptors import ConversationReader
from gateway_kit.json_bodies import decode_members
from gateway_kit.providers.subject import ProviderUnderTest

MODEL = "kit-vendor/large"
RULE = " Mind the quokka.\n"
FIRST = 'Grüße, 世界 🌍\t"quoted" \\ and a line\nof the Echidna '
ANSWERED = "An answer about the numbat"
FOUND = "The bandicoot is found"
LAST = "Tell of the kookaburra"
IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)
TOOLS = ("look_at_the_dingo", "ask_the_wallaby")
ARGUMENT = "bilby"
SCHEMA = {"type": "object", "properties": {"koala": {"type": "string", "description": "Its name"}}}
UNKNOWN = {
    "x_kit_extension": {"mark": "platypus", "large": 9007199254740993, "exact": 0.1, "none": None},
    "x_kit_list": [["cassowary"], {"deep": [True, "lyrebird"]}],
}
"""Members that no format knows."""
OWN = {"x_kit_own": "potoroo"}
"""A member of a part or a message that no format knows."""


class Variant(Struct, frozen=True, kw_only=True):
    """How one of several like calls is written."""

    words: str = ""
    """Stands in the first and the last message of the user."""
    as_list: bool = False
    """Whether the last message is a list of parts."""
    mark: str = ""
    """Ends each text of the user, so that two calls at the same time can be told apart."""

    @property
    def first(self) -> str:
        return f"{FIRST}{self.mark} {self.words}".rstrip(" ")

    @property
    def last(self) -> str:
        return f"{LAST}{self.mark} {self.words}".rstrip(" ")


def rich_calls(vendor: ProviderUnderTest, variant: Variant) -> Iterator[Call]:
    """One in each client format that is installed, whole and streamed."""
    for client in BODIES:
        if client in vendor.registry.formats:
            for stream in (False, True):
                yield rich_call(vendor, client, variant, stream=stream)


def rich_call(
    vendor: ProviderUnderTest, client: str, variant: Variant, *, stream: bool = False
) -> Call:
    members = {**BODIES[client](variant), **UNKNOWN}
    if client != "gemini":
        members = {"model": MODEL, "stream": stream, **members}
    body = msgspec.json.encode(members)
    return Call(
        kind=Kind.LLM,
        format=client,
        model=MODEL,
        stream=stream,
        body=body,
        members=decode_members(body),
        headers={"content-type": "application/json", f"x-kit{variant.mark.replace(' ', '-')}": "1"},
        path={"model": MODEL} if client == "gemini" else {},
        key_id=f"key{variant.mark}",
        reader=ConversationReader(vendor.registry.formats),
    )


def _openai(variant: Variant) -> dict[str, Any]:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    function = {"name": TOOLS[0], "arguments": msgspec.json.encode({"koala": ARGUMENT}).decode()}
    return {
        "messages": [
            {"role": "system", "content": RULE},
            {"role": "user", "content": [{"type": "text", "text": variant.first, **OWN}, picture]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_00001", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "call_00001", "content": FOUND},
            {"role": "assistant", "content": ANSWERED},
            {"role": "user", "content": _last(variant), "name": "gecko"},
        ],
        "tools": [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS
        ],
        "tool_choice": "auto",
        "temperature": 0.37,
        "top_p": 0.91,
        "max_tokens": 57,
        "seed": 4711,
        "stop": ["goanna"],
        "user": "taipan",
    }


def _claude(variant: Variant) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    call = {"type": "tool_use", "id": "call_00001", "name": TOOLS[0], "input": {"koala": ARGUMENT}}
    result = {"type": "tool_result", "tool_use_id": "call_00001", "content": FOUND}
    first = {"type": "text", "text": variant.first, **OWN}
    return {
        "system": RULE,
        "messages": [
            {"role": "user", "content": [first, {"type": "image", "source": source}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": ANSWERED},
            {"role": "user", "content": _last(variant)},
        ],
        "tools": [{"name": name, "input_schema": SCHEMA} for name in TOOLS],
        "tool_choice": {"type": "auto"},
        "temperature": 0.37,
        "top_p": 0.91,
        "max_tokens": 57,
        "stop_sequences": ["goanna"],
        "metadata": {"user_id": "taipan"},
    }


def _gemini(variant: Variant) -> dict[str, Any]:
    call = {"functionCall": {"name": TOOLS[0], "args": {"koala": ARGUMENT}}}
    result = {"functionResponse": {"name": TOOLS[0], "response": {"result": FOUND}}}
    picture = {"inlineData": {"mimeType": "image/png", "data": IMAGE}}
    return {
        "systemInstruction": {"parts": [{"text": RULE}]},
        "contents": [
            {"role": "user", "parts": [{"text": variant.first, **OWN}, picture]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [result]},
            {"role": "model", "parts": [{"text": ANSWERED}]},
            {"role": "user", "parts": [{"text": variant.last}]},
        ],
        "tools": [
            {"functionDeclarations": [{"name": name, "parameters": SCHEMA} for name in TOOLS]}
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {
            "temperature": 0.37,
            "topP": 0.91,
            "maxOutputTokens": 57,
            "seed": 4711,
            "stopSequences": ["goanna"],
        },
    }


def _ollama(variant: Variant) -> dict[str, Any]:
    function = {"name": TOOLS[0], "arguments": {"koala": ARGUMENT}}
    return {
        "messages": [
            {"role": "system", "content": RULE},
            {"role": "user", "content": variant.first, "images": [IMAGE], **OWN},
            {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
            {"role": "tool", "tool_name": TOOLS[0], "content": FOUND},
            {"role": "assistant", "content": ANSWERED},
            {"role": "user", "content": variant.last},
        ],
        "tools": [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS
        ],
        "options": {
            "temperature": 0.37,
            "top_p": 0.91,
            "num_predict": 57,
            "seed": 4711,
            "stop": ["goanna"],
        },
        "keep_alive": "7m",
    }


def _responses(variant: Variant) -> dict[str, Any]:
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"}
    arguments = msgspec.json.encode({"koala": ARGUMENT}).decode()
    call = {"type": "function_call", "call_id": "call_00001", "name": TOOLS[0]}
    answered = {"type": "output_text", "text": ANSWERED, "annotations": []}
    return {
        "instructions": RULE,
        "input": [
            {
                "role": "user",
                "content": [{"type": "input_text", "text": variant.first, **OWN}, picture],
            },
            {**call, "arguments": arguments},
            {"type": "function_call_output", "call_id": "call_00001", "output": FOUND},
            {"type": "message", "role": "assistant", "content": [answered]},
            {"role": "user", "content": _last(variant, "input_text")},
        ],
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in TOOLS],
        "tool_choice": "auto",
        "temperature": 0.37,
        "top_p": 0.91,
        "max_output_tokens": 57,
        "user": "taipan",
        "store": False,
    }


def _last(variant: Variant, kind: str = "text") -> object:
    return [{"type": kind, "text": variant.last}] if variant.as_list else variant.last


BODIES: Mapping[str, Any] = {
    "openai": _openai,
    "claude": _claude,
    "gemini": _gemini,
    "ollama": _ollama,
    "openai-responses": _responses,
}
"""By client format, what writes its body."""
