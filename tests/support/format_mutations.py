"""Bugs in a format: the same format with one of its methods replaced."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Call,
    Choice,
    ChoiceEnded,
    Conversation,
    GatewayError,
    Media,
    PartGrew,
    PartStarted,
    Reply,
    ReplyFailed,
    StreamEvent,
    ToolCall,
    ToolResult,
    Turn,
    UpstreamError,
    Usage,
    UsageReported,
    WireFormat,
)

Change = Callable[[Any], Any]


class Wrapped:
    """An object with some of its methods and properties replaced."""

    def __init__(self, inner: Any, **replaced: Any) -> None:
        self._inner = inner
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def client(**methods: Any) -> Callable[[WireFormat], WireFormat]:
    return lambda wire: replace(wire, client=Wrapped(wire.client, **_bound(wire.client, methods)))


def vendor(**methods: Any) -> Callable[[WireFormat], WireFormat]:
    return lambda wire: replace(wire, vendor=Wrapped(wire.vendor, **_bound(wire.vendor, methods)))


def _bound(side: Any, methods: Mapping[str, Any]) -> dict[str, Any]:
    """Each replacement gets the method it replaces first."""
    return {name: _partial(new, getattr(side, name)) for name, new in methods.items()}


def _partial(new: Any, old: Any) -> Any:
    return lambda *given: new(old, *given)


def asks(change: Change) -> Any:
    """Change the conversation that is written."""
    return vendor(write_request=lambda old, received, *rest: old(change(received), *rest))


def sends(change: Change) -> Any:
    """Change the bytes of the request that was written."""
    return vendor(write_request=lambda old, *given: change(old(*given)))


def hears(change: Change) -> Any:
    """Change the conversation that was read."""
    return client(read_request=lambda old, call: change(old(call)))


def tells(change: Change) -> Any:
    """Change the reply that is written."""
    return client(write_reply=lambda old, reply, *rest: old(change(reply), *rest))


def learns(change: Change) -> Any:
    """Change the reply that was read."""
    return vendor(read_reply=lambda old, body: change(old(body)))


def streams(feed: Any, close: Any = lambda old: old()) -> Any:
    """Change a stream's writer."""

    def made(old: Any, *given: Any) -> Any:
        inner = old(*given)
        return Wrapped(inner, feed=_partial(feed, inner.feed), close=_partial(close, inner.close))

    return client(stream_writer=made)


def reads(feed: Any, close: Any = lambda old: old()) -> Any:
    """Change a stream's reader."""

    def made(old: Any) -> Any:
        inner = old()
        return Wrapped(inner, feed=_partial(feed, inner.feed), close=_partial(close, inner.close))

    return vendor(stream_reader=made)


def passes(feed: Any, close: Any = lambda old: old(), **more: Any) -> Any:
    """Change the relay of a stream."""

    def made(old: Any, call: Call, *given: Any) -> Any:
        inner = old(call, *given)
        if not call.stream:
            return inner
        replaced = {"feed": _partial(feed, inner.feed), "close": _partial(close, inner.close)}
        return Wrapped(inner, **replaced, **more)

    return vendor(relay=made)


def written(change: Callable[[Sequence[StreamEvent]], Iterable[StreamEvent]]) -> Any:
    return streams(lambda old, events: old(list(change(events))))


def seen(change: Callable[[Sequence[StreamEvent]], Iterable[StreamEvent]]) -> Any:
    return reads(lambda old, chunk: list(change(old(chunk))), lambda old: list(change(old())))


def parts(change: Callable[[tuple[AnyPart, ...]], Iterable[AnyPart]]) -> Change:
    """A change of the parts of every answer."""

    def changed(reply: Reply) -> Reply:
        choices = (replace(c, parts=tuple(change(c.parts))) for c in reply.choices)
        return replace(reply, choices=tuple(choices))

    return changed


def turns(change: Callable[[tuple[AnyPart, ...]], Iterable[AnyPart]]) -> Change:
    """A change of the parts of every turn; a turn without parts is left out."""

    def changed(received: Conversation) -> Conversation:
        found = (replace(turn, parts=tuple(change(turn.parts))) for turn in received.turns)
        return replace(received, turns=tuple(turn for turn in found if turn.parts))

    return changed


def without(*kinds: type) -> Callable[[Iterable[AnyPart]], list[AnyPart]]:
    return lambda found: [part for part in found if not isinstance(part, kinds)]


def each(kind: type, **members: Any) -> Callable[[Iterable[AnyPart]], list[AnyPart]]:
    """Every part of a kind with other members."""
    return lambda found: [replace(p, **members) if isinstance(p, kind) else p for p in found]


def doubled(usage: Usage | None) -> Usage | None:
    return usage and replace(usage, output_tokens=2 * usage.output_tokens)


def finishing(was: str, becomes: str) -> Change:
    def changed(reply: Reply) -> Reply:
        return replace(reply, choices=tuple(_finished(c, was, becomes) for c in reply.choices))

    return changed


def _finished(choice: Choice, was: str, becomes: Any) -> Choice:
    return replace(choice, finish=becomes) if choice.finish == was else choice


def cooler(received: Conversation) -> Conversation:
    return replace(
        received,
        sampling=replace(received.sampling, temperature=received.sampling.temperature or None),
    )


def unorphaned(received: Conversation) -> Conversation:
    called = {p.id for t in received.turns for p in t.parts if isinstance(p, ToolCall)}
    return turns(
        lambda found: [p for p in found if not isinstance(p, ToolResult) or p.call_id in called]
    )(received)


def as_user(turn: Turn) -> Turn:
    return replace(turn, role="user") if turn.role == "assistant" else turn


def swapped(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    return [replace(e, choice=1 - e.choice) if hasattr(e, "choice") else e for e in events]


def first_only(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    """All growth goes to the first part."""
    return [replace(e, index=0) if isinstance(e, PartGrew) else e for e in events]


def dropping(*kinds: type) -> Callable[[Sequence[StreamEvent]], list[StreamEvent]]:
    return lambda events: [event for event in events if not isinstance(event, kinds)]


def adding_up() -> Any:
    """Reports of usage are added up."""

    def made(old: Any) -> Any:
        inner, total = old(), [0]

        def summed(event: StreamEvent) -> StreamEvent:
            if not isinstance(event, UsageReported):
                return event
            total[0] += event.usage.output_tokens
            return UsageReported(replace(event.usage, output_tokens=total[0] * 2))

        return Wrapped(
            inner,
            feed=lambda chunk: [summed(event) for event in inner.feed(chunk)],
            close=lambda: [summed(event) for event in inner.close()],
        )

    return vendor(stream_reader=made)


def late_usage_lost(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    ended = next((i for i, e in enumerate(events) if isinstance(e, ChoiceEnded)), len(events))
    return [e for i, e in enumerate(events) if i < ended or not isinstance(e, UsageReported)]


def raising(events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
    if any(isinstance(event, ReplyFailed) for event in events):
        raise ValueError("no JSON")
    return events


def held_back() -> Any:
    """A relay that is one frame behind."""

    def made(old: Any, *given: Any) -> Any:
        inner, held = old(*given), [b""]

        def feed(chunk: bytes) -> bytes:
            ready, held[0] = held[0], inner.feed(chunk)
            return ready

        return Wrapped(inner, feed=feed, close=lambda: held[0] + inner.close())

    return vendor(relay=made)


def unguarded(old: Any, *given: Any) -> Any:
    """Lets a decoder's exception escape."""
    try:
        return old(*given)
    except GatewayError as error:
        raise KeyError("messages") from error


def forgiving(old: Any, body: bytes) -> Reply:
    try:
        return old(body)
    except UpstreamError:
        return Reply(id="", model="", choices=(Choice(),))


def endpoints(change: Change) -> Callable[[WireFormat], WireFormat]:
    """Change every endpoint."""
    return lambda wire: replace(wire, endpoints=tuple(map(change, wire.endpoints)))


def guardless(read: Any) -> Any:
    return lambda path, headers, members: (members["model"], read(path, headers, members))[1]


def decoding(counting: Any) -> Any:
    """An estimate whose decoder's exception escapes."""

    def estimate(body: bytes) -> bytes:
        msgspec.json.decode(body)
        return bytes(counting.estimate(body))

    return counting and replace(counting, estimate=estimate)


def indexed(found: tuple[AnyPart, ...]) -> tuple[AnyPart, ...]:
    """Assumes that there is a part."""
    assert found[0] is not None
    return found


def louder(old: Any, *given: Any) -> UpstreamError:
    error: UpstreamError = old(*given)
    error.message = f"The vendor said: {error.message}"
    return error


def only_json(old: Any, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Assumes that an error's body is JSON."""
    msgspec.json.decode(body)
    error: UpstreamError = old(status, headers, body)
    return error


def strict(old: Any, chunk: bytes) -> bytes:
    """Assumes that a chunk is text."""
    return bytes(old(chunk.decode().encode()))


def spaced_whole(wire: WireFormat) -> WireFormat:
    """A relay that re-encodes a whole answer."""

    def made(old: Any, *given: Any) -> Any:
        inner = old(*given)
        return Wrapped(inner, close=lambda: inner.close().replace(b'":', b'": '))

    return vendor(relay=made)(wire)


def failing_twice(wire: WireFormat) -> WireFormat:
    def made(old: Any, *given: Any) -> Any:
        inner = old(*given)
        return Wrapped(inner, fail=lambda failure: inner.fail(failure) or b"data: again\n\n")

    return vendor(relay=made)(wire)


def without_images(events: Sequence[StreamEvent]) -> list[StreamEvent]:
    lost = {e.index for e in events if isinstance(e, PartStarted) and isinstance(e.part, Media)}
    return [event for event in events if getattr(event, "index", None) not in lost]


def negative(wire: WireFormat) -> WireFormat:
    def spoiled(endpoint: Any) -> Any:
        if endpoint.counting is None:
            return endpoint
        counting = replace(endpoint.counting, estimate=lambda body: b'{"input_tokens":-4}')
        return replace(endpoint, counting=counting)

    return replace(wire, endpoints=tuple(map(spoiled, wire.endpoints)))


def never_streaming(wire: WireFormat) -> WireFormat:
    def spoiled(endpoint: Any) -> Any:
        read = endpoint.read
        return replace(endpoint, read=lambda *given: replace(read(*given), stream=False))

    return replace(wire, endpoints=tuple(map(spoiled, wire.endpoints)))


def error_as(**members: Any) -> Any:
    """Change the error that was read."""

    def changed(old: Any, *given: Any) -> UpstreamError:
        error = old(*given)
        for name, value in members.items():
            setattr(error, name, value)
        return error

    return vendor(read_error=changed)


def over_full(reply: Reply) -> Reply:
    usage = reply.usage
    return replace(reply, usage=usage and replace(usage, cached_tokens=usage.input_tokens + 1))


_shared: list[Any] = []


def one_writer(old: Any, *given: Any) -> Any:
    _shared[:] = _shared or [old(*given)]
    return _shared[0]


def unsigned(body: bytes) -> bytes:
    return re.sub(rb'"signature":"[^"]*"', b'"signature":""', body)


def sound(wire: WireFormat) -> WireFormat:
    """The same wrapper without a change."""
    return vendor(path=lambda old, *given: old(*given))(
        client(read_request=lambda old, call: old(call))(wire)
    )
