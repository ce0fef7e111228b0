"""Requests, answers and events as they are on the wire; msgspec checks their types."""

from typing import Literal

import msgspec
from msgspec import Raw, Struct

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding bytes from outside may raise."""
NULL = Raw(b"null")
encode = msgspec.json.encode


class TextPart(Struct, frozen=True, tag="text"):
    text: str


class ThoughtPart(Struct, frozen=True, tag="thought"):
    text: str


class ImagePart(Struct, frozen=True, omit_defaults=True, tag="image"):
    media_type: str | None = None
    data: str | None = None
    """Base64."""
    url: str | None = None


class CallPart(Struct, frozen=True, tag="call"):
    id: str
    name: str
    arguments: str = ""
    """JSON text."""


class ResultPart(Struct, frozen=True, omit_defaults=True, tag="result"):
    id: str
    """The id of the call that it answers."""
    text: str
    failed: bool = False


class Message(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    parts: list[TextPart | ThoughtPart | ImagePart | CallPart | ResultPart]


class ToolRow(Struct, frozen=True, omit_defaults=True):
    name: str
    description: str | None = None
    schema: Raw = NULL


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True):
    model: str = ""
    stream: bool = False
    system: str | None = None
    messages: list[Message]
    tools: list[ToolRow] = []
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    choose: str | None = None
    """``auto``, ``none``, ``any``, or ``=`` and the name of a tool."""
    who: str | None = None


class TokenCounts(Struct, frozen=True):
    fresh: int = 0
    output: int = 0
    cached: int = 0
    """Beside ``fresh``."""
    reasoning: int = 0
    """A part of ``output``."""


class Start(Struct, frozen=True, tag="start"):
    id: str
    model: str


class End(Struct, frozen=True, tag="end"):
    finish: str
    usage: TokenCounts | None = None
    met: str | None = None
    """The text that ended the answer."""


class Failed(Struct, frozen=True, omit_defaults=True, tag="error"):
    message: str
    kind: str | None = None
    request_id: str | None = None


class Answer(Struct, frozen=True, tag="answer"):
    id: str
    model: str
    parts: list[TextPart | ThoughtPart | CallPart]
    finish: str
    usage: TokenCounts | None = None
    met: str | None = None


class _TypeOnly(Struct, frozen=True):
    type: str


AnswerPart = TextPart | ThoughtPart | CallPart
Event = Start | TextPart | ThoughtPart | CallPart | End | Failed
TYPES = ("start", "text", "thought", "call", "end", "error")

decode_request = msgspec.json.Decoder(Request).decode
decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_answer: msgspec.json.Decoder[Answer | Failed] = msgspec.json.Decoder(Answer | Failed)
decode_answer = _answer.decode
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_type_only = msgspec.json.Decoder(_TypeOnly)


def read_event(data: bytes) -> Event | None:
    """``None`` for an event of a later version of the format. Raises an exception of UNREADABLE."""
    try:
        return _event.decode(data)
    except msgspec.ValidationError:
        if type_of(data) in TYPES:
            raise
        return None


def type_of(data: bytes) -> str:
    """Raises an exception of UNREADABLE."""
    return _type_only.decode(data).type
