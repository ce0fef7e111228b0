"""What whole streams of this dialect look like, chat and text completions."""

from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import Grammar
from gateway_formats.sse import parse_frame, split_frames

from ._members import UNREADABLE
from .errors import error_in
from .vendor_stream import is_done


class _AnyChoice(Struct):
    index: Any = 0
    delta: dict[str, Any] | None = None
    message: dict[str, Any] | None = None
    text: Any = None
    finish_reason: Any = None


class _AnyChunk(Struct):
    choices: list[_AnyChoice] | None = None
    usage: Any = None
    error: Any = None


_chunk = msgspec.json.Decoder(_AnyChunk).decode

_anything = msgspec.json.Decoder().decode


def _words(stream: bytes) -> list[str]:
    if not stream.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")):
        return ["rubbish"]
    return [_word(parse_frame(block)[1]) for block in split_frames(stream)]


def _word(data: bytes) -> str:
    """``note`` for a frame without data or without choices, which says nothing by itself."""
    if not data:
        return "note"
    if is_done(data):
        return "done"
    try:
        chunk = _chunk(data)
        if (chunk.error is not None or not chunk.choices) and error_in(_anything(data)):
            return "error"
    except UNREADABLE:
        return "rubbish"
    if not chunk.choices:
        return "usage" if chunk.usage is not None else "note"
    # A choice ends with the chunk that has its finish reason.
    ends = any(choice.finish_reason for choice in chunk.choices)
    return "finish" if ends else "chunk"


_SAID = "(?:(?:note|usage|chunk|finish) )*"

_ENDED = "(?:chunk|finish) (?:(?:note|usage) )*done (?:note )*"

_PATTERN = f"{_SAID}(?:{_ENDED}|error )"

GRAMMAR = Grammar(words=_words, pattern=_PATTERN)
"""Chunks and then the end marker, or an error and then nothing."""
