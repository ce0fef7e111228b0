"""Recorded answers of the messages format, and a simple reader for them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from anthropic.types.beta import BetaRawMessageStreamEvent
from corpus import answer, items
from pydantic import TypeAdapter, ValidationError

from gateway_core import StreamEvent, VendorSide

GOOD = [item for item in items("anthropic_messages") if item["response_status"] == 200]
WHOLE = [item for item in GOOD if not item["stream"]]
JOINED = [item for item in GOOD if "joined_turns" in item["features"]]
SPLICED = [item for item in GOOD if "spliced" in item["id"]]
STREAMS = [item for item in GOOD if item["stream"] and item not in JOINED + SPLICED]
SHORT = [item for item in STREAMS if len(answer(item)) < 3500]


def frames(stream: bytes) -> Iterator[dict[str, Any]]:
    for line in stream.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            yield json.loads(line[5:])


def joined(stream: bytes) -> dict[str, Any]:
    """The message that a stream adds up to, assembled in the simplest way."""
    message: dict[str, Any] = {}
    pieces: dict[int, str] = {}
    for event in frames(stream):
        match event["type"]:
            case "message_start" if not message:
                message = event["message"]
            case "content_block_start":
                message["content"].append(event["content_block"])
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                match delta["type"]:
                    case "text_delta":
                        block["text"] += delta["text"]
                    case "thinking_delta":
                        block["thinking"] += delta["thinking"]
                    case "signature_delta":
                        block["signature"] = delta["signature"]
                    case "citations_delta":
                        block.setdefault("citations", []).append(delta["citation"])
                    case "compaction_delta":
                        block["content"] = (block.get("content") or "") + delta["content"]
                    case "input_json_delta":
                        index = event["index"]
                        pieces[index] = pieces.get(index, "") + delta["partial_json"]
            case "content_block_stop" if pieces.get(event["index"]):
                message["content"][event["index"]]["input"] = json.loads(pieces[event["index"]])
            case "message_delta":
                output = {k: v for k, v in event["usage"].items() if v is not None}
                message["usage"] = {**message["usage"], **output}
                message.update(event["delta"])
    return message


FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


def naive(message: dict[str, Any]) -> dict[str, Any]:
    content, usage = message["content"], message["usage"]

    def of(kind: str) -> list[dict[str, Any]]:
        return [block for block in content if block["type"] == kind]

    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    known = ("text", "thinking", "redacted_thinking", "tool_use")
    return {
        "text": "".join(block["text"] for block in of("text")),
        "thinking": [(b["thinking"], b.get("signature") or None) for b in of("thinking")],
        "sealed": [block["data"] for block in of("redacted_thinking")],
        "calls": [(b["id"], b["name"], b["input"]) for b in of("tool_use")],
        "cited": [c["cited_text"] for b in of("text") for c in b.get("citations") or ()],
        "others": [block for block in content if block["type"] not in known],
        "finish": FINISHES[message["stop_reason"]],
        "usage": (
            usage["input_tokens"] + cached + written,
            usage["output_tokens"],
            cached,
            written,
        ),
        "id": message["id"],
        "model": message["model"],
    }


def events_of(vendor: VendorSide, chunks: Sequence[bytes]) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.close()]


def accepted(kind: Any, output: Any) -> bool:
    """Whether the library's type accepts it; it refuses a few older recordings."""
    try:
        adapter: TypeAdapter[Any] = ADAPTERS.setdefault(kind, TypeAdapter(kind))
        adapter.validate_json(output) if isinstance(output, bytes) else adapter.validate_python(
            output
        )
    except ValidationError:
        return False
    return True


ADAPTERS: dict[Any, Any] = {}


def known(shape: Any, event: dict[str, Any]) -> bool:
    if shape not in KNOWN:
        KNOWN[shape] = accepted(BetaRawMessageStreamEvent, event)
    return KNOWN[shape]


KNOWN: dict[Any, bool] = {}
