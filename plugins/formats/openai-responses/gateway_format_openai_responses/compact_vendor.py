"""Calling a vendor that compacts conversations by itself.

Such a vendor answers whole. A client that wants a stream gets one made of it.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    Call,
    Choice,
    Conversation,
    Foreign,
    Losses,
    Relay,
    Reply,
    ReplyFailed,
    StreamEvent,
    StreamReader,
    Target,
    UpstreamError,
    Usage,
    UsageReported,
)
from gateway_formats.fold import as_error, as_failure, unfold
from gateway_formats.relay import WholeRelay

from .answers import UNREADABLE, Answer, created, decode_answer, overhear
from .dialect import DIALECT, NULL
from .errors import read_error, read_failure
from .members import BROKEN
from .parts import kind_of
from .summary import without_request
from .usage import read_usage
from .vendor_requests import write_request
from .writer import Writer, error_frame

PATH = "/responses/compact"
SENT = (
    "model",
    "input",
    "instructions",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "service_tier",
    "image",
)
"""The members that the vendor's endpoint has."""

_members = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


class CompactVendor:
    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        plain = replace(without_request(conversation), stream=False, tool_choice=None)
        members = _members.decode(write_request(plain, target, losses))
        for name in members:
            if name not in (*SENT, "store", "include"):
                losses.add(name)
        return _encode({name: raw for name, raw in members.items() if name in SENT})

    def read_reply(self, body: bytes) -> Reply:
        return read_compaction(body)

    def stream_reader(self) -> StreamReader:
        return WholeReader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return PATH

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        members.pop("stream", None)
        return StreamedRelay(call.model) if call.stream else WholeRelay(overhear)


def read_compaction(body: bytes) -> Reply:
    """Every item as it came: they are the client's to send back. Raises UpstreamError."""
    try:
        answer = decode_answer(body)
        if answer.error != NULL:
            raise as_error(read_failure(answer.error))
        return _reply(answer)
    except BROKEN:
        raise UpstreamError(UNREADABLE) from None


def _reply(answer: Answer) -> Reply:
    if answer.output is None:
        raise UpstreamError(UNREADABLE)
    parts = [
        Foreign(dialect=DIALECT, type=kind_of(item), raw=item.copy()) for item in answer.output
    ]
    return Reply(
        id=answer.id or "",
        model=answer.model or "",
        created=created(answer),
        choices=(Choice(parts=tuple(parts)),),
        usage=read_usage(answer.usage),
        dialect=DIALECT,
    )


class WholeReader:
    """Reads a whole answer as if it had been streamed."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        self._held.append(chunk)
        return ()

    def close(self) -> Sequence[StreamEvent]:
        try:
            return unfold(read_compaction(b"".join(self._held)))
        except UpstreamError as error:
            return (as_failure(error),)


class StreamedRelay:
    """Passes a whole answer on as a stream."""

    def __init__(self, model: str) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self.failure: ReplyFailed | None = None
        self._reader = WholeReader()
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
        return error_frame(failure, 0)
