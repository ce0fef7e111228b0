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
    words: list[str] = []
    for block in split_frames(stream):
        _, data = parse_frame(block)
        if not data:
            words.append("note")  # a frame without data says nothing by itself
            continue
        if is_done(data):
            words.append("done")
            continue
        try:
            chunk = _chunk(data)
            may_fail = chunk.error is not None or not chunk.choices
            if may_fail and error_in(_anything(data)):
                words.append("error")
                continue
        except UNREADABLE:
            words.append("rubbish")
            continue
        if not chunk.choices:
            words.append("usage" if chunk.usage is not None else "note")
            continue
        # A choice ends with the chunk that has its finish reason.
        ends = any(choice.finish_reason for choice in chunk.choices)
        words.append("finish" if ends else "chunk")
    return words


_BEFORE_END = "(?:(?:note|usage|chunk|finish) )*"

_ENDED = "(?:chunk|finish) (?:(?:note|usage) )*done (?:note )*"

_PATTERN = f"{_BEFORE_END}(?:{_ENDED}|error )"

GRAMMAR = Grammar(words=_words, pattern=_PATTERN)
"""Chunks and then the end marker, or an error and then nothing."""
