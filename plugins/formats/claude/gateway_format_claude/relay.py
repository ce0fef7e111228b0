"""Watches answers that pass from a vendor to a client of this same format.

https://docs.anthropic.com/en/api/messages-streaming
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Call, Relay, ReplyFailed, Target, Usage
from gateway_formats.relay import HeldRelay, StreamRelay

from ._dialect import NULL, PRESERVE, Unreadable, decode_members, encode
from ._frames import write_event
from ._usage import Meter
from .errors import SECOND_ANSWER, find_error, read_failure, write_error_frame
from .grammar import BLOCK_EVENTS, BlockOrder
from .vendor_requests import complete_messages


class WatchedDelta(Struct):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class WatchedStart(Struct):
    model: object = None
    usage: Raw = NULL


class WatchedEvent(Struct):
    """What the relay reads of an event."""

    type: str
    index: int = -1
    delta: WatchedDelta | None = None
    message: WatchedStart | None = None
    usage: Raw = NULL


class WatchedBlock(Struct):
    text: str = ""
    thinking: str = ""
    input: Raw = Raw(b"")


class WatchedMessage(Struct):
    """What the relay reads of a whole answer."""

    content: list[WatchedBlock]
    model: object = None
    usage: Raw = NULL


_decode_event = msgspec.json.Decoder(WatchedEvent).decode
_decode_message = msgspec.json.Decoder(WatchedMessage).decode


class Watch:
    """Looks at each frame: counts, and whether it can stand where it stands.

    The answer names the model as the client did. Agents drop their thinking from an answer of
    another model than the one that they asked, and the vendor then refuses their next call.
    """

    def __init__(self, requested_model: str) -> None:
        self._requested_model = requested_model
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self._begun = False
        self._finishing = False
        self._blocks = BlockOrder()
        self._meter = Meter()

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str | bytes:
        """Raises MsgspecError for what is no event, or stands where it cannot."""
        if self.ended:
            return ReplyFailed("The upstream went on after the end")
        seen = _decode_event(data)
        if seen.type.encode() != event:
            # Clients go by one or the other, and would read different streams.
            raise msgspec.ValidationError("the event's name is not its type")
        # Nearly every frame is a block's, so these come first.
        if seen.type in BLOCK_EVENTS:
            fits = self._begun and not self._finishing
            if not fits or not self._blocks.fits(seen.type, seen.index):
                raise msgspec.ValidationError("a block event out of order")
            self.started = True
            delta = seen.delta
            if seen.type != "content_block_delta" or delta is None:
                return True
            text = delta.text or delta.thinking or delta.partial_json or ""
            self.characters += len(text)
            return text or True
        match seen.type:
            case "message_start":
                if self._begun:
                    return ReplyFailed(SECOND_ANSWER) if self.started else False
                if seen.message is None:
                    raise msgspec.ValidationError("a message_start without its message")
                self._begun = True
                self._note_usage(seen.message.usage)
                if self._requested_model not in ("", seen.message.model):
                    members = decode_members(data)
                    members["message"] = Raw(name_model(members["message"], self._requested_model))
                    return write_event({**members, "type": seen.type})
            case "error":
                return read_failure(data)
            case "message_delta":
                if not self._begun:
                    raise msgspec.ValidationError("the end of an answer that has not begun")
                self._finishing = self.started = True
                self._note_usage(seen.usage)
                # A few servers leave out the ends of blocks, for which typed clients wait.
                left = self._blocks.close_all()
                if not left:
                    return True
                return b"".join((*map(_end_of_block, left), _frame(event, data)))
            case "message_stop":
                if not self._finishing:
                    raise msgspec.ValidationError("an end without its reason")
                self.ended = True
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return write_error_frame(failure)

    def _note_usage(self, raw: Raw) -> None:
        if self._meter.read(raw):
            self.usage = self._meter.usage()


def _frame(event: bytes, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event, data)


def _end_of_block(index: int) -> bytes:
    return write_event({"type": "content_block_stop", "index": index})


def start_relay(call: Call, target: Target, members: dict[str, Raw]) -> Relay:
    """Begin a pass-through; a request that ends on the assistant's turn gets its user turn."""
    messages = members.get("messages")
    if messages is not None and call.headers.get(PRESERVE, "").strip().lower() != "preserve":
        completed = complete_messages(messages)
        if completed is not None:
            members["messages"] = completed
    return StreamRelay(Watch(call.model)) if call.stream else MessageRelay(call.model)


class MessageRelay(HeldRelay):
    """A whole answer, with the model's name as the client wrote it; see ``Watch``."""

    def __init__(self, requested_model: str) -> None:
        super().__init__()
        self._requested_model = requested_model
        self._model: object = None

    def close(self) -> bytes:
        body = super().close()
        if self.failure is not None or self._requested_model in ("", self._model):
            return body
        return name_model(body, self._requested_model)

    def look(self, body: bytes) -> tuple[Usage | None, int]:
        message = decode_message(body)
        self._model = message.model
        return measure(message)


def name_model(message: bytes, model: str) -> bytes:
    """A message with another ``model``; every other member keeps its bytes."""
    return encode({**decode_members(message), "model": model})


def decode_message(body: bytes) -> WatchedMessage:
    """Raises UpstreamError for an error with status 200, and MsgspecError for no answer at all."""
    try:
        return _decode_message(body)
    except Unreadable:
        error = find_error(body)
        if error is not None:
            raise error from None
        raise


def measure(message: WatchedMessage) -> tuple[Usage | None, int]:
    """The usage and length of a whole answer."""
    meter = Meter()
    meter.read(message.usage)
    length = sum(
        len(block.text) + len(block.thinking) + len(bytes(block.input)) for block in message.content
    )
    return meter.usage(), length
