"""Watching an answer of Cohere's on its way to a client that speaks Cohere's format itself."""

import msgspec

from gateway_core import Call, PartGrew, Relay, ReplyFailed, Usage, UsageReported
from gateway_formats.fold import unfold
from gateway_formats.relay import StreamRelay, WholeRelay
from gateway_formats.sse import write_frame

from ._answer import AnswerReader
from ._shapes import decode_event
from .vendor_replies import read_reply
from .vendor_stream import DONE, take

_encode = msgspec.json.encode


def relay_reply(call: Call) -> Relay:
    return StreamRelay(Watch()) if call.stream else WholeRelay(_read_whole)


class Watch:
    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self._answer = AnswerReader()

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        # Version 2 ends with message-end; [DONE] may follow: https://docs.cohere.com/docs/streaming
        if data == DONE:
            return self.ended
        if self.ended:
            return False
        take(decode_event(data), self._answer)
        events, self._answer.events = self._answer.events, []
        for seen in events:
            if isinstance(seen, ReplyFailed):
                return seen
            if isinstance(seen, PartGrew):
                self.started = True
                self.characters += len(seen.text)
            elif isinstance(seen, UsageReported):
                self.usage = seen.usage
        self.ended = self._answer.is_over
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        """Cohere ends a broken answer as it ends a whole one, but for the reason."""
        delta = {"finish_reason": "ERROR", "usage": {}, "error": failure.message}
        data = _encode({"type": "message-end", "delta": delta})
        return write_frame(data, b"message-end") + write_frame(DONE)


def _read_whole(body: bytes) -> tuple[Usage | None, int]:
    reply = read_reply(body)
    grown = (event.text for event in unfold(reply) if isinstance(event, PartGrew))
    return reply.usage, sum(map(len, grown))
