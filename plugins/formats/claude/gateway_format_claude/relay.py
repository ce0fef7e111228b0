"""Overhearing answers that pass from a vendor to a client of this same format."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Call, Relay, ReplyFailed, Target, Usage
from gateway_formats.relay import StreamRelay, WholeRelay

from ._dialect import NULL, PRESERVE, Unreadable
from ._usage import Meter
from .errors import error_frame, error_in, failure_in
from .grammar import BLOCK_EVENTS, BlockOrder
from .vendor_requests.prefill import repaired
from .vendor_stream.reader import SECOND_ANSWER


class _Delta(Struct):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class _Message(Struct):
    usage: Raw = NULL


class _Event(Struct):
    type: str
    index: int = -1
    delta: _Delta | None = None
    message: _Message | None = None
    usage: Raw = NULL


class _Block(Struct):
    text: str = ""
    thinking: str = ""
    input: Raw = Raw(b"")


class _Whole(Struct):
    content: list[_Block]
    usage: Raw = NULL


_event = msgspec.json.Decoder(_Event).decode
_whole = msgspec.json.Decoder(_Whole).decode


class Watch:
    """Looks at each frame: counts, and whether it can stand where it stands."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self._begun = False
        self._finishing = False
        self._blocks = BlockOrder()
        self._meter = Meter()

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str:
        """Raises MsgspecError for what is no event, or stands where it cannot."""
        if self.ended:
            return ReplyFailed("The upstream went on after the end")
        said = _event(data)
        kind = said.type
        if kind.encode() != event:
            raise msgspec.ValidationError("the event's name is not its type")
        if kind == "content_block_delta":
            return self._count(said) or True
        if kind == "message_start":
            return self._begin(said)
        if kind == "error":
            return failure_in(data)
        if kind != "ping":
            self._proceed(said)
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return error_frame(failure)

    def _count(self, said: _Event) -> str:
        self._in_order(said)
        self.started = True
        delta = said.delta
        if delta is None:
            return ""
        text = delta.text or delta.thinking or delta.partial_json or ""
        self.characters += len(text)
        return text

    def _begin(self, said: _Event) -> ReplyFailed | bool:
        if self._begun:
            return ReplyFailed(SECOND_ANSWER) if self.started else False
        if said.message is None:
            raise msgspec.ValidationError("a message_start without its message")
        self._begun = True
        self._note_usage(said.message.usage)
        return True

    def _proceed(self, said: _Event) -> None:
        if said.type in BLOCK_EVENTS:
            self._in_order(said)
            self.started = True
        elif said.type == "message_delta":
            if not (self._begun and self._blocks.all_closed):
                raise msgspec.ValidationError("the end of an answer that is not whole")
            self._finishing = self.started = True
            self._note_usage(said.usage)
        elif said.type == "message_stop":
            if not self._finishing:
                raise msgspec.ValidationError("an end without its reason")
            self.ended = True

    def _note_usage(self, said: Raw) -> None:
        if self._meter.take(said):
            self.usage = self._meter.usage()

    def _in_order(self, said: _Event) -> None:
        if not self._begun or self._finishing or not self._blocks.fits(said.type, said.index):
            raise msgspec.ValidationError("a block event out of order")


def relay(call: Call, target: Target, members: dict[str, Raw]) -> Relay:
    """Begin a pass-through; a request that ends on the assistant's turn gets its user turn."""
    messages = members.get("messages")
    if messages is not None and call.headers.get(PRESERVE, "").strip().lower() != "preserve":
        ending = repaired(messages)
        if ending is not None:
            members["messages"] = ending
    return StreamRelay(Watch()) if call.stream else WholeRelay(_read_whole)


def _read_whole(body: bytes) -> tuple[Usage | None, int]:
    try:
        said = _whole(body)
    except Unreadable:
        error = error_in(body)
        if error is not None:
            raise error from None
        raise
    meter = Meter()
    meter.take(said.usage)
    length = sum(
        len(block.text) + len(block.thinking) + len(bytes(block.input)) for block in said.content
    )
    return meter.usage(), length
