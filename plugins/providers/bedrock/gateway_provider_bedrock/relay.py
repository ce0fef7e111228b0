"""Watching an answer of Converse's on its way to a client that speaks Converse itself."""

import msgspec

from gateway_core import Call, PartGrew, Relay, ReplyFailed, Usage, UsageReported
from gateway_formats.fold import unfold
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT, WholeRelay

from ._answer import AnswerReader
from ._frames import Frames, write_frame
from .vendor_replies import read_reply
from .vendor_stream import take

_encode = msgspec.json.encode


def relay_reply(call: Call) -> Relay:
    return EventRelay() if call.stream else WholeRelay(_read_whole)


class EventRelay:
    """Passes whole frames on, each as it came."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.characters = 0
        self.failure: ReplyFailed | None = None
        self._frames = Frames()
        self._answer = AnswerReader()

    @property
    def ended(self) -> bool:
        return self._answer.has_ended

    def feed(self, chunk: bytes) -> bytes:
        if self.failure is not None:
            return b""
        passed: list[bytes] = []
        for whole, frame in self._frames.feed(chunk):
            failure = take(frame, self._answer)
            if failure is not None:
                return b"".join(passed) + self.fail(failure)
            passed.append(whole)
        events, self._answer.events = self._answer.events, []
        for event in events:
            if isinstance(event, PartGrew):
                self.started = True
                self.characters += len(event.text)
            elif isinstance(event, UsageReported):
                self.usage = event.usage
        broken = self.fail(ReplyFailed(UNREADABLE_EVENT)) if self._frames.is_broken else b""
        return b"".join(passed) + broken

    def close(self) -> bytes:
        if self._answer.has_ended and self._frames.is_empty():
            return b""
        return self.fail(ReplyFailed(CUT_SHORT))

    def fail(self, failure: ReplyFailed) -> bytes:
        if self.failure is not None:
            return b""
        self.failure = failure
        # An exception frame is how the service itself ends a broken stream:
        # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
        headers = {
            ":exception-type": failure.kind or "internalServerException",
            ":content-type": "application/json",
            ":message-type": "exception",
        }
        return write_frame(headers, _encode({"message": failure.message}))


def _read_whole(body: bytes) -> tuple[Usage | None, int]:
    reply = read_reply(body)
    grown = (event.text for event in unfold(reply) if isinstance(event, PartGrew))
    return reply.usage, sum(map(len, grown))
