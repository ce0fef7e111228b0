"""Building blocks for sockets: the realtime dialect that several vendors speak, and audio that is
counted as it passes.

Realtime events: https://platform.openai.com/docs/api-reference/realtime-server-events
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import SocketEvent, Spent, Usage

NOTHING = SocketEvent()
ASKED = SocketEvent(begins="asked")
RUNNING = SocketEvent(begins="running")

TRANSCRIPTION_MODEL = (
    "session.audio.input.transcription.model",
    "session.input_audio_transcription.model",
)
"""Where a session names the model that writes down what it hears, in both versions of it."""
REALTIME_MODELS = (
    "model",
    "session.model",
    "response.model",
    "session.tools[].model",
    "response.tools[].model",
    *TRANSCRIPTION_MODEL,
    "input_audio_transcription.model",
)
"""Where events of the realtime dialect name models."""
SLICE = 30.0
"""Seconds of audio that are counted together while more of it comes."""
PCM16 = 2
"""Bytes of a sample."""
AUDIO_TOKEN = 24_000 * PCM16 * 0.05
"""Bytes of sound, at the usual rate, that are one token of a response."""
CANCEL = '{"type":"response.cancel"}'
"""Stops the response that runs; its end is then reported like any other."""


class Typed(Struct):
    """What every event of the realtime dialect has."""

    type: str = ""


_head = msgspec.json.Decoder(Typed).decode
_whole = msgspec.json.Decoder().decode


def type_of(message: str | bytes) -> str:
    """The type of an event; empty for what is none."""
    try:
        return _head(message).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def read_object(message: str | bytes) -> Mapping[str, Any]:
    """The members of an event; none for what is no JSON object."""
    try:
        decoded = _whole(message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def member(value: Any, *path: str) -> Any:
    """What stands at a path of members; ``None`` where something is missing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def number(value: Any, *path: str) -> float:
    """The number at a path of members; zero for anything else."""
    found = member(value, *path)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return found if is_number and 0 < found < float(1 << 53) else 0


def token_usage(usage: Any) -> Usage:
    """The usage of a response, or of a transcription, which may count seconds in their place."""
    seconds = number(usage, "seconds")
    return Usage(
        input_tokens=int(number(usage, "input_tokens")),
        output_tokens=int(number(usage, "output_tokens")),
        cached_tokens=int(number(usage, "input_token_details", "cached_tokens")),
        units={"seconds": seconds} if seconds else None,
    )


def write_realtime_error(type: str, code: str | None, message: str) -> str:
    """An error as the realtime dialect has it."""
    error = {"type": type, "code": code, "message": message}
    return msgspec.json.encode({"type": "error", "error": error}).decode()


class RealtimeReader:
    """Reads sessions that talk: each response is counted when it is done."""

    def __init__(self, _query: Mapping[str, str]) -> None:
        self._response = ""
        """The id of the one that runs."""
        self._estimate = 0.0
        """Its tokens so far."""

    def read_client(self, message: str | bytes) -> SocketEvent:
        return ASKED if type_of(message) == "response.create" else NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        type = type_of(message)
        # The vendor begins some responses itself, when it hears that a turn is over.
        if type == "response.created":
            self._response = str(member(read_object(message), "response", "id"))
            self._estimate = 0.0
            return RUNNING
        if type == "response.done":
            response = member(read_object(message), "response")
            usage = token_usage(member(response, "usage"))
            self._response = ""
            return SocketEvent(spent=Spent(id=str(member(response, "id")), usage=usage))
        if type == "conversation.item.input_audio_transcription.completed":
            return SocketEvent(spent=transcribed(message))
        if self._response and type.endswith(".delta"):
            self._estimate += estimated_tokens(type, member(read_object(message), "delta"))
        return NOTHING

    def close(self) -> Spent | None:
        """A response that broke off, by what of it has come."""
        response, self._response = self._response, ""
        if not response:
            return None
        usage = Usage(output_tokens=ceil(self._estimate), estimated=True)
        return Spent(id=response, usage=usage)


class TranscriptionReader(RealtimeReader):
    """Reads sessions that only write down what they hear."""

    def read_client(self, message: str | bytes) -> SocketEvent:
        return NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        if type_of(message) == "input_audio_buffer.committed":
            return RUNNING
        return super().read_vendor(message)


def estimated_tokens(type: str, delta: Any) -> float:
    """Tokens of a piece of a response: of its text, or of its sound, one for 50 milliseconds.

    https://platform.openai.com/docs/guides/realtime-costs
    """
    if not isinstance(delta, str):
        return 0
    if "audio." in type:
        return len(delta) * 3 / 4 / AUDIO_TOKEN
    return len(delta) / 4


def transcribed(message: str | bytes) -> Spent:
    """What a transcription used."""
    event = read_object(message)
    item = f"{member(event, 'item_id')}:{member(event, 'content_index')}"
    usage = token_usage(member(event, "usage"))
    return Spent(id=f"transcription:{item}", usage=usage, fields=TRANSCRIPTION_MODEL)


class AudioCount:
    """Counts audio by its length, a slice at a time."""

    def __init__(self, bytes_per_second: float) -> None:
        self._rate = bytes_per_second
        self._bytes = 0.0
        self._slices = 0

    def take(self, size: float) -> SocketEvent:
        """More audio, in bytes. It begins a slice, or ends one that is long enough."""
        is_first, self._bytes = not self._bytes, self._bytes + size
        if self._bytes >= SLICE * self._rate:
            return SocketEvent(begins="running" if is_first else "", spent=self.close())
        return RUNNING if is_first and size else NOTHING

    def close(self) -> Spent | None:
        """The slice up to here."""
        size, self._bytes = self._bytes, 0.0
        if not size:
            return None
        self._slices += 1
        units = {"seconds": round(size / self._rate, 3)}
        return Spent(id=f"audio:{self._slices}", usage=Usage(units=units))
