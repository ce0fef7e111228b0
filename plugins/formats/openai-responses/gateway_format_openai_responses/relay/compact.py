"""Pass a whole compaction on as a stream."""

from msgspec import Raw

from gateway_core import Call, Conversation, Losses, Relay, ReplyFailed, Usage, UsageReported
from gateway_formats.relay import WholeRelay

from .._dialect import DIALECT
from ..client_stream import Writer
from ..errors import error_frame
from ..vendor_stream import CompactionReader
from .watch import read_passing_reply


def relay_compaction(call: Call, members: dict[str, Raw]) -> Relay:
    """The vendor's endpoint always answers whole, so a client's stream is made of that answer."""
    members.pop("stream", None)
    return CompactionRelay(call.model) if call.stream else WholeRelay(read_passing_reply)


class CompactionRelay:
    """Passes a whole answer on as a stream."""

    def __init__(self, model: str) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self.failure: ReplyFailed | None = None
        self._reader = CompactionReader()
        self._writer = Writer(Conversation(model=model, dialect=DIALECT), Losses())

    def feed(self, chunk: bytes) -> bytes:
        self._reader.feed(chunk)
        return b""

    def close(self) -> bytes:
        if self.failure is not None:
            return b""
        events = self._reader.close()
        failed = events[-1]
        if isinstance(failed, ReplyFailed):
            return self.fail(failed)
        self.started = self.ended = True
        reported = (event.usage for event in events if isinstance(event, UsageReported))
        self.usage = next(reported, None)
        return self._writer.feed(events) + self._writer.close()

    def fail(self, failure: ReplyFailed) -> bytes:
        if self.failure is not None:
            return b""
        self.failure = failure
        # Nothing was sent before, so the numbering starts here.
        return error_frame(failure, 0)
