"""A format under test: its verbs with what they take, and the bytes at hand."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Model,
    ProviderSpec,
    Relay,
    Reply,
    StreamEvent,
    Target,
    VendorSide,
    WireFormat,
)
from gateway_formats.fold import unfold
from gateway_kit.abilities import STREAM, is_asked

from . import sample_values

PROVIDER = "kit-vendor"

_members = msgspec.json.Decoder(dict[str, Raw]).decode


class Lacked(Exception):
    """A case does not apply, since its conversation needs what the format lacks."""


class RecordedError(Struct, frozen=True):
    """A vendor's refusal; header names in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


class Samples(Struct, frozen=True, kw_only=True):
    """What an author recorded; all of it is optional, and checked beside what is generated."""

    requests: Sequence[bytes] = ()
    """Bodies that clients of this format sent."""
    replies: Sequence[bytes] = ()
    """Whole answers with status 200."""
    streams: Sequence[bytes] = ()
    """Streamed answers that came to their proper end."""
    errors: Sequence[RecordedError] = ()


class FormatHarness:
    """The verbs of one format, ready to be called."""

    def __init__(
        self,
        wire: WireFormat,
        samples: Samples,
        *,
        model: str,
        options: Mapping[str, str | bool],
        examples: int,
        simplify: bool,
        bodies: Mapping[str, Mapping[str, Any] | None] = {},
        lacks: frozenset[str] = frozenset(),
    ) -> None:
        self.wire, self.samples = wire, samples
        self.examples, self.simplify = examples, simplify
        self.bodies, self.lacks = bodies, lacks
        provider = ProviderSpec(id=PROVIDER, name="Kit", format=wire.id, options=options)
        self.target = Target(provider, Model(model))
        self.request = Conversation(model=model, stream=True)

    @property
    def client(self) -> ClientSide:
        assert self.wire.client is not None
        return self.wire.client

    @property
    def vendor(self) -> VendorSide:
        assert self.wire.vendor is not None
        return self.wire.vendor

    @cached_property
    def requests(self) -> tuple[bytes, ...]:
        """Recorded requests, and one of each generated conversation."""
        written: tuple[bytes, ...] = ()
        if self.wire.vendor is not None:
            written = (self.write_request(self.for_target(sample_values.PLAIN))[0],)
        given = (msgspec.json.encode(body) for body in self.bodies.values() if body is not None)
        return (*self.samples.requests, *given, *written)

    @cached_property
    def replies(self) -> tuple[bytes, ...]:
        """Whole answers as a vendor of this format would send them."""
        if self.wire.client is None:
            return tuple(self.samples.replies)
        written = (self.write_reply(reply)[0] for reply in sample_values.REPLIES.values())
        return (*self.samples.replies, *written)

    @cached_property
    def streams(self) -> tuple[bytes, ...]:
        """Streamed answers as a vendor of this format would send them."""
        if self.wire.client is None:
            return tuple(self.samples.streams)
        written = (
            self.write_stream([unfold(reply)])[0] for reply in sample_values.REPLIES.values()
        )
        return (*self.samples.streams, *written)

    def for_target(self, conversation: Conversation) -> Conversation:
        """The conversation for this harness's model and dialect."""
        return msgspec.structs.replace(
            conversation, model=self.target.model.id, dialect=self.wire.dialect
        )

    def call(self, body: bytes, *, stream: bool = False) -> Call:
        return Call(
            kind=Kind.LLM,
            format=self.wire.id,
            model=self.target.model.id,
            stream=stream,
            body=body,
            members=members_of(body),
            path={"model": self.target.model.id},
        )

    def read_request(self, body: bytes) -> Conversation:
        return self.client.read_request(self.call(body))

    def write_request(self, conversation: Conversation) -> tuple[bytes, Losses]:
        """Raises Lacked for a conversation that needs what the format is said to lack."""
        if STREAM in self.lacks:
            conversation = msgspec.structs.replace(conversation, stream=False)
        if is_asked(conversation, self.lacks):
            raise Lacked
        return self.write_any_request(conversation)

    def write_any_request(self, conversation: Conversation) -> tuple[bytes, Losses]:
        losses = Losses()
        return self.vendor.write_request(conversation, self.target, losses), losses

    def write_reply(self, reply: Reply) -> tuple[bytes, Losses]:
        losses = Losses()
        return self.client.write_reply(reply, self.request, losses), losses

    def write_stream(self, batches: Sequence[Sequence[StreamEvent]]) -> tuple[bytes, Losses]:
        losses = Losses()
        writer = self.client.stream_writer(self.request, losses)
        return b"".join(writer.feed(batch) for batch in batches) + writer.close(), losses

    def read_stream(self, *chunks: bytes) -> list[StreamEvent]:
        reader = self.vendor.stream_reader()
        events = [event for chunk in chunks for event in reader.feed(chunk)]
        return [*events, *reader.close()]

    def relay(self, *, stream: bool) -> Relay:
        """A pass-through that a client began who wants usage too."""
        body = b"{}"
        if self.wire.vendor is not None:
            conversation = msgspec.structs.replace(
                self.for_target(sample_values.PLAIN), stream=stream
            )
            body = self.write_request(conversation)[0]
        call = self.call(body, stream=stream)
        # A format may give an answer the name by which its client called the model; here it gave
        # none, so nothing is to be changed.
        call.model = ""
        return self.vendor.relay(call, self.target, dict(members_of(body)))

    @property
    def frame_end(self) -> bytes | None:
        """What a frame ends with; ``None`` where frames have no such end."""
        if self.wire.stream_type.startswith("text/event-stream"):
            return b"\n\n"
        return b"\n" if "ndjson" in self.wire.stream_type else None

    def is_whole(self, stream: bytes) -> bool:
        """Whether the stream ends where a frame ends, as far as that can be known."""
        end = self.frame_end
        return end is None or stream.endswith((end, b"\r\n\r\n"))

    def frames(self, stream: bytes) -> list[bytes]:
        """A stream's frames with their ends; the whole stream where frames have no such end."""
        end = self.frame_end
        if end is None:
            return [stream]
        end = b"\r\n\r\n" if b"\r\n\r\n" in stream else end
        *whole, rest = stream.split(end)
        return [frame + end for frame in whole] + ([rest] if rest else [])

    def beginnings(self, stream: bytes) -> Iterator[bytes]:
        """The stream as it is when it breaks off after each frame but the last; at sixteen places
        where frames have no such end."""
        frames = self.frames(stream)
        step = max(1, len(stream) // 16)
        lengths = map(len, frames) if len(frames) > 1 else [step] * (len(stream) // step)
        for place in accumulate(lengths):
            if place < len(stream):
                yield stream[:place]


def members_of(body: bytes) -> dict[str, Raw]:
    """The top-level members of a JSON object; none for any other bytes."""
    try:
        return _members(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def cut(stream: bytes, places: Sequence[int]) -> list[bytes]:
    """The stream in pieces."""
    bounds = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]
