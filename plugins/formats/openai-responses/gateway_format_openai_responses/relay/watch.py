"""Watching a stream of this format pass from a vendor to a client."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Call, Relay, ReplyFailed, UpstreamError, Usage
from gateway_formats.fold import as_error
from gateway_formats.relay import StreamRelay, WholeRelay

from .._dialect import NULL
from .._frames import NUMBERED, opening
from .._output_items import read_item, text_of
from .._usage import read_usage
from ..errors import error_frame, read_failure, write_failed
from ..vendor_replies import ENDED, UNREADABLE, decode_answer

_TRUE = Raw(b"true")
_PROLOGUE = ("response.created", "response.in_progress", "response.queued")


class _PassingFrame(Struct):
    type: str = ""
    delta: str = ""
    sequence_number: int | None = None
    response: Raw = NULL


class _KnownMembers(Struct):
    type: str = ""
    sequence_number: int | None = None


_frame = msgspec.json.Decoder(_PassingFrame)
_known = msgspec.json.Decoder(_KnownMembers)
_members = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


def relay_reply(call: Call, members: dict[str, Raw]) -> Relay:
    if not call.stream:
        return WholeRelay(read_passing_reply)
    if members.get("stream") != _TRUE:
        # The body does not ask for a stream when only the client's accept header did.
        members["stream"] = _TRUE
    return StreamRelay(ResponsesWatch())


class ResponsesWatch:
    """Learns usage from the final object, and how to go on if the vendor does not."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self._number = 0
        self._response = NULL
        """The object as the vendor first gave it, for the case that we must end the stream."""

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        if data == b"[DONE]":
            return True
        if self.ended:
            return False  # What comes after the end belongs to nothing.
        frame = _read(data)
        kind = frame.type
        # Deltas are nearly all events; they are looked at first.
        if kind.endswith(".delta"):
            self.started = True
            self.characters += len(frame.delta)
        elif kind == "error" or (event == b"error" and not kind):
            return read_failure(data)
        elif kind.startswith("response.") and (failed := self._read_lifecycle(frame)) is not None:
            return failed
        number = frame.sequence_number
        self._number = (self._number if number is None else number) + 1
        return True

    def _read_lifecycle(self, frame: _PassingFrame) -> ReplyFailed | None:
        """What an event that is not a delta says about the answer as a whole."""
        if frame.type in _PROLOGUE:
            self._response = self._response if frame.response == NULL else frame.response
            return None
        if frame.type == "response.failed" or frame.type in ENDED:
            answer = decode_answer(b"{}" if frame.response == NULL else frame.response)
            self.usage = read_usage(answer.usage) or self.usage
            if frame.type == "response.failed" or answer.error != NULL:
                return read_failure(b"{}" if answer.error == NULL else answer.error)
            self.ended = True
        self.started = True
        return None

    def error_frame(self, failure: ReplyFailed) -> bytes:
        frame = error_frame(failure, self._number)
        # The object may never have come, or may be unreadable.
        try:
            response = _members.decode(self._response)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return frame
        # The vendor's own library reads one of the two events, agents the other.
        response |= {"status": "failed", "error": Raw(write_failed(failure))}
        failed = opening("response.failed", b'"response":' + _encode(response))
        return frame + failed + NUMBERED % (self._number + 1)


def _read(data: bytes) -> _PassingFrame:
    """Raises MsgspecError for rubbish; an unknown event may have members of any type."""
    try:
        return _frame.decode(data)
    except msgspec.ValidationError:
        # A new event may reuse a member's name with another type.
        known = _known.decode(data)
        if known.type in _PROLOGUE or known.type in ENDED:
            raise
        return _PassingFrame(known.type, sequence_number=known.sequence_number)


def length_of(output: Iterable[Raw]) -> int:
    """Characters of text, thinking and arguments in the items of an answer."""
    parts = (part for item in output for part in read_item(item))
    return sum(len(text_of(part)) for part in parts)


def read_passing_reply(body: bytes) -> tuple[Usage | None, int]:
    """Usage and length of a whole answer that passes by; raises as WholeRelay wants it."""
    answer = decode_answer(body)
    if answer.error != NULL:
        raise as_error(read_failure(answer.error))
    if answer.output is None:
        raise UpstreamError(UNREADABLE)
    return read_usage(answer.usage), length_of(answer.output)
