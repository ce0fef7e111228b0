"""Streams of the messages format, built event by event, and functions that read them."""

import json
from typing import Any

from gateway_format_claude import CLAUDE

from gateway_core import Call, Kind, Model, ProviderSpec, Relay, StreamEvent, Target, VendorSide
from gateway_formats.grammar import find_violation

START = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": []}}
STOP = {"type": "message_stop"}


def ended(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def opened(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grew(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def closed(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def frame(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(frame(event) for event in events)


HELLO = (
    START,
    opened(0, type="text", text=""),
    grew(0, "text_delta", text="Hello"),
    closed(0),
    ended(),
    STOP,
)


def read(vendor: VendorSide, data: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [*reader.feed(data), *reader.close()]


def relayed(vendor: VendorSide, data: bytes) -> tuple[bytes, Relay]:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})
    return relay.feed(data) + relay.close(), relay


def well_formed(data: bytes) -> bool:
    assert CLAUDE.grammar is not None
    return find_violation(CLAUDE.grammar, data) is None


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
