"""A translated exchange that keeps the answer in neutral form until filters have seen it."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from gateway_core import (
    Call,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Finish,
    GatewayError,
    Losses,
    PartEnded,
    PartGrew,
    PartStarted,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    UsageReported,
    WireFormat,
)
from gateway_core.metering.accounting import read_usage
from gateway_core.pipeline.exchanges import Translated, client_side, encode_losses
from gateway_core.upstream.endpoints import UpstreamEndpoint

from .guarded import GuardedCheck


class HeldBack:
    """A client side that keeps what it is to write."""

    def __init__(self, side: ClientSide) -> None:
        self.side = side
        self.read_request, self.write_error = side.read_request, side.write_error
        self.events: list[StreamEvent] = []

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes:
        return b""  # The exchange keeps it.

    def stream_writer(self, request: Conversation, losses: Losses) -> "HeldBack":
        return self

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        self.events += events
        return b""

    def close(self) -> bytes:
        return b""


class FilteredExchange(Translated):
    """``feed`` and ``close`` give no bytes: they are written once filters have seen the answer."""

    def __init__(
        self,
        call: Call,
        conversation: Conversation,
        way: UpstreamEndpoint,
        client: WireFormat,
        now: float,
        checks: tuple[GuardedCheck, ...],
    ) -> None:
        self._back = HeldBack(client_side(client))
        super().__init__(
            call, conversation, way, replace(client, client=self._back, trailer=None), now
        )
        self.checks = checks
        self._call, self._frame_losses = call, client.trailer
        self._started = ReplyStarted("", way.target.model.id)
        self._is_begun = False
        self._open: dict[tuple[int, int], None] = {}
        """Choice and index of the parts that the client has seen the beginning of."""
        self._parts: dict[int, int] = {0: 0}
        """How many parts of each choice were written; a choice that has ended is left out."""
        if conversation.stream:
            self._output = self._back.side.stream_writer(conversation, self.losses)

    @property
    def is_begun(self) -> bool:
        """The client's stream has begun."""
        return self._is_begun

    def take(self) -> list[StreamEvent]:
        """What has come since the last time."""
        events, self._back.events = self._back.events, []
        if events and isinstance(events[0], ReplyStarted):
            self._started = events[0]
        if any(isinstance(event, PartGrew) and event.logprobs is not None for event in events):
            # They spell the text out, and would tell what a filter has changed.
            self.losses.add("logprobs")
        return events

    def write(self, events: Sequence[StreamEvent]) -> bytes:
        """Frames of a stream."""
        for event in events:
            self._note(event)
        return self._output.feed(events) if events else b""

    def write_reply(self, reply: Reply) -> bytes:
        """A whole answer."""
        assert self.reply is not None
        choices = []
        for before, choice in zip(self.reply.choices, reply.choices, strict=False):
            if choice.logprobs is not None and choice.parts != before.parts:
                self.losses.add("logprobs")
                choice = replace(choice, logprobs=None)
            choices.append(choice)
        reply = replace(reply, choices=tuple(choices), usage=self.reply.usage)
        return self._back.side.write_reply(reply, self.conversation, self.losses)

    def end(self) -> bytes:
        """The frames that end a stream."""
        end = self._output.close()
        if self._frame_losses is None or len(self.losses.names) <= self._announced:
            return end
        return self._frame_losses(encode_losses(self.losses.names)) + end

    def stop(self, text: str, finish: Finish, *, is_over: bool) -> bytes:
        """End a stream properly before its vendor has ended it."""
        begin = () if self._is_begun else (self._started,)
        ended = tuple(PartEnded(index, choice) for choice, index in self._open)
        self._open.clear()
        choices = dict(self._parts)
        usage = UsageReported(read_usage(self._call, self, is_over=is_over))
        last = [event for each in choices.items() for event in _closing(*each, text, finish)]
        return self.write((*begin, *ended, *last, usage)) + self.end()

    def break_off(self, error: GatewayError) -> bytes:
        """The error that ends a stream here."""
        return self.write((ReplyFailed(error.message, error.type, error.code, error.status),))

    def _note(self, event: StreamEvent) -> None:
        if isinstance(event, ReplyStarted):
            self._is_begun = True
        elif isinstance(event, PartStarted):
            self._open[event.choice, event.index] = None
            self._parts[event.choice] = event.index + 1
        elif isinstance(event, PartEnded):
            self._open.pop((event.choice, event.index), None)
        elif isinstance(event, ChoiceEnded):
            self._parts.pop(event.choice, None)


def _closing(choice: int, index: int, text: str, finish: Finish) -> Iterable[StreamEvent]:
    """The end of a choice, with a last text."""
    if text:
        part = Refusal(text="") if finish == "refusal" else Text(text="")
        yield PartStarted(index, part, choice)
        yield PartGrew(index, text, choice)
        yield PartEnded(index, choice)
    yield ChoiceEnded(finish, choice)
