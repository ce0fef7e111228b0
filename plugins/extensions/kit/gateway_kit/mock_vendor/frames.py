"""Frames of a streamed answer, each with its role, and their encoding."""

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .content import Content

FrameRole = Literal["start", "thinking", "text", "call", "finish", "usage", "end"]
Framing = Literal["sse", "lines", "binary", "whole"]
encode = msgspec.json.Encoder().encode


class Frame(Struct, frozen=True):
    """One frame, and what it is for: a fault needs to know which to drop or to repeat."""

    role: FrameRole
    data: bytes


class Dialect(Struct, frozen=True, kw_only=True):
    """How one wire format encodes answers."""

    id: str
    framing: Framing = "sse"
    whole: Callable[[Content, str], bytes]
    """The body of an answer that is not streamed, for a model."""
    stream: Callable[[Content, str], Sequence[Frame]]
    refusal: Callable[[str, int], bytes]
    """The body of an error with a status."""
    broken: Callable[[str], bytes]
    """The frame in which a stream fails."""
    counts: frozenset[str] = frozenset({"cached", "reasoning"})
    """Which kinds of tokens it reports."""
    thinks: bool = True
    model_member: str | None = "model"
    """The member of a request that names the model; ``None`` where none does."""
    stream_member: str | None = "stream"
    """The member of a request that asks for a stream; ``None`` where none does."""

    @property
    def media_type(self) -> str:
        return {
            "sse": "text/event-stream",
            "lines": "application/x-ndjson",
            "binary": "application/vnd.amazon.eventstream",
            "whole": "application/json",
        }[self.framing]


def whole_only(dialect: Dialect) -> Dialect:
    """The dialect of a vendor that has no streams: whatever is asked, it answers whole."""

    def stream(content: Content, model: str) -> Sequence[Frame]:
        return [Frame("text", dialect.whole(content, model))]

    return replace(dialect, framing="whole", stream=stream)


def data(event: Any) -> bytes:
    """A server-sent event without a name."""
    return b"data: %b\n\n" % encode(event)


def named_event(event: Mapping[str, Any]) -> bytes:
    """A server-sent event that is named after its type."""
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encode(event))


def line(event: Any) -> bytes:
    return encode(event) + b"\n"


def binary_message(name: str, event: Any, *, kind: str = "event") -> bytes:
    """A message of a binary event stream."""
    payload = encode(event)
    headers = b"".join(
        struct.pack(">B", len(key)) + key + struct.pack(">BH", 7, len(value)) + value
        for key, value in (
            (f":{kind}-type".encode(), name.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", kind.encode()),
        )
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    text = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return text + struct.pack(">I", zlib.crc32(text))


def halves(text: str) -> tuple[str, str]:
    middle = len(text) // 2
    return text[:middle], text[middle:]
