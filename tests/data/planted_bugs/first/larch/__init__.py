"""Larch: a vendor with a wire format of its own, which no client speaks.

API reference: https://docs.larch.example/v3
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    Auth,
    BadRequest,
    Call,
    ChoiceEnded,
    Conversation,
    Finish,
    Foreign,
    Losses,
    Media,
    Model,
    PartEnded,
    PartGrew,
    PartStarted,
    Price,
    ProviderSpec,
    Reasoning,
    Refusal,
    Relay,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Sampling,
    StreamEvent,
    StreamReader,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    UpstreamError,
    Usage,
    UsageReported,
    WireFormat,
    hookimpl,
)
from gateway_formats.fold import as_error, gather
from gateway_formats.hints import first_line, plain_text, request_id, retry_after
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import EventDecoder, FrameTooLong

GATEWAY_PROTOCOL = 1
CONFORMANCE = {"dialects": {"larch": "larch_dialect:LARCH"}}

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
FINISHES: dict[str, Finish] = {
    "done": "stop",
    "halted": "stop",
    "limit": "length",
    "calls": "tool_calls",
    "blocked": "content_filter",
}
KNOBS = {
    "max_tokens": "limit",
    "temperature": "heat",
    "top_p": "nucleus",
    "top_k": "pool",
    "seed": "seed",
    "stop": "halts",
}
SPEAKERS = {"user": "human", "assistant": "engine", "system": "brief"}


class Opened(Struct, frozen=True, tag_field="is", tag="opened"):
    ref: str
    engine: str


class Words(Struct, frozen=True, tag_field="is", tag="words"):
    words: str


class Musing(Struct, frozen=True, tag_field="is", tag="musing"):
    words: str


class CallItem(Struct, frozen=True, tag_field="is", tag="call"):
    ref: str
    fn: str
    args: Raw = Raw(b"")


class Args(Struct, frozen=True, tag_field="is", tag="args"):
    ref: str
    text: str


class Tally(Struct, frozen=True):
    fresh: int = 0
    """Tokens of the prompt that no cache held."""
    held: int = 0
    out: int = 0
    """Tokens of the answer, without its musing."""
    musing: int = 0


class Closed(Struct, frozen=True, tag_field="is", tag="closed"):
    why: str
    halt: str | None = None
    tally: Tally | None = None


class Trouble(Struct, frozen=True, tag_field="is", tag="trouble"):
    kind: str
    words: str
    wait_s: float | None = None


class Answer(Struct, frozen=True, tag_field="is", tag="answer"):
    ref: str
    engine: str
    items: list[Words | Musing | CallItem]
    why: str
    halt: str | None = None
    tally: Tally | None = None


Event = Opened | Words | Musing | CallItem | Args | Closed | Trouble
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_answer: msgspec.json.Decoder[Answer | Trouble] = msgspec.json.Decoder(Answer | Trouble)
_KNOWN = ("opened", "words", "musing", "call", "args", "closed", "trouble")


class _Kind(Struct, frozen=True):
    kind: str = msgspec.field(name="is")


_kind = msgspec.json.Decoder(_Kind)


def write_request(conversation: Conversation, target: Target, losses: Losses) -> bytes:
    note_settings(conversation, losses)
    body: dict[str, Any] = {"engine": target.model.id, "talk": []}
    if conversation.stream:
        body["streaming"] = True
    if conversation.instructions:
        for text in conversation.instructions:
            note_part(text, losses)
        body["brief"] = "\n\n".join(text.text for text in conversation.instructions)
    for turn in conversation.turns:
        body["talk"].append(write_turn(turn, losses))
    fns = [row for tool in conversation.tools for row in write_tool(tool, losses)]
    if fns:
        body["fns"] = fns
    if conversation.tool_choice is not None:
        choice = conversation.tool_choice
        if choice.mode == "only":
            body["pick"] = {"fns": list(choice.names)}
        else:
            body["pick"] = {"auto": "any", "none": "none", "required": "must"}[choice.mode]
    knobs = {
        word: getattr(conversation.sampling, name)
        for name, word in KNOBS.items()
        if getattr(conversation.sampling, name) not in (None, ())
    }
    if knobs:
        body["knobs"] = knobs
    if conversation.output is not None:
        body["shape"] = conversation.output.schema or "object"
    if conversation.user is not None:
        body["end_user"] = conversation.user
    return msgspec.json.encode(body)


def write_turn(turn: Turn, losses: Losses) -> dict[str, Any]:
    losses.add_extra(turn.extra, within="messages")
    if turn.name is not None:
        losses.add("name")
    items = [item for part in turn.parts for item in write_part(part, losses)]
    return {"by": SPEAKERS[turn.role], "items": items}


def write_part(part: AnyPart, losses: Losses) -> Sequence[dict[str, Any]]:
    note_part(part, losses)
    match part:
        case Text() | Refusal():
            return ({"is": "words", "words": part.text},)
        case Reasoning():
            return ({"is": "musing", "words": part.text},) if part.text else ()
        case Media(kind="image", data=str() as data):
            return ({"is": "picture", "mime": part.media_type or "image/png", "base64": data},)
        case Media(kind="image", url=str() as url):
            return ({"is": "picture", "at": url},)
        case ToolCall():
            args = read_args(part.arguments)
            return ({"is": "call", "ref": part.id, "fn": part.name, "args": args},)
        case ToolResult():
            for piece in part.content:
                note_part(piece, losses)
                if isinstance(piece, Media):
                    losses.add(piece.kind)
            words = "\n\n".join(piece.text for piece in part.content if isinstance(piece, Text))
            row = {"is": "outcome", "ref": part.call_id, "words": words}
            return ({**row, "bad": True},) if part.failed else (row,)
        case Media():
            losses.add(part.kind)
    return ()


def read_args(arguments: str) -> Any:
    """Decoded, so that what the model wrote badly is sent as a text."""
    try:
        return msgspec.json.decode(arguments or "{}")
    except UNREADABLE:
        return arguments


def note_part(part: AnyPart, losses: Losses) -> None:
    if part.cache is not None:
        losses.add("cache_control")
    if part.signature is not None or (isinstance(part, Reasoning) and part.sealed is not None):
        losses.add("reasoning_signature")
    losses.add_extra(part.extra, within="content")
    match part:
        case Refusal():
            losses.add("refusal")
        case Foreign():
            losses.add(f"part:{part.type}")
        case Text() if part.citations:
            losses.add("citations")
        case Media() if part.detail is not None:
            losses.add("detail")
        case ToolCall() | ToolResult() if part.custom:
            losses.add("tool:custom")


def write_tool(tool: Tool, losses: Losses) -> Sequence[dict[str, Any]]:
    losses.add_extra(tool.extra, within="tools")
    if tool.custom or tool.hosted is not None:
        losses.add(f"tool:{tool.hosted or 'custom'}")
        return ()
    for name in ("strict", "cache"):
        if getattr(tool, name):
            losses.add(name)
    row: dict[str, Any] = {"fn": tool.name}
    if tool.description is not None:
        row["about"] = tool.description
    if tool.schema is not None:
        row["input"] = tool.schema
    return (row,)


def note_settings(conversation: Conversation, losses: Losses) -> None:
    for name in Sampling.__struct_fields__:
        if name not in KNOBS and getattr(conversation.sampling, name) is not None:
            losses.add(name)
    for name in ("parallel_tools", "thinking", "cache_key", "service_tier"):
        if getattr(conversation, name) is not None:
            losses.add(name)
    losses.add_extra(conversation.extra)


class EventReader:
    """The vendor's events, in order, to the gateway's."""

    def __init__(self) -> None:
        self.is_over = False
        self._started = False
        self._count = 0
        self._kind: type[Any] | None = None
        self._calls: dict[str, int] = {}

    def take(self, event: Event) -> list[StreamEvent]:
        match event:
            case Trouble(kind, words, wait):
                self.is_over = True
                return [ReplyFailed(words, kind, retry_after=wait)]
            case Opened(ref, engine):
                self._started = True
                return [ReplyStarted(ref, engine)]
            case _ if not self._started:
                raise msgspec.ValidationError("nothing comes before the opening")
            case Words(words):
                return self._grow(Words, Text(text=""), words)
            case Musing(words):
                return self._grow(Musing, Reasoning(), words)
            case CallItem(ref, fn, args):
                ended = self._end_part()
                index, self._count = self._count, self._count + 1
                self._kind, self._calls[ref] = CallItem, index
                started: list[StreamEvent] = [PartStarted(index, ToolCall(id=ref, name=fn))]
                text = bytes(args).decode()
                return [*ended, *started, *([PartGrew(index, text)] if text else [])]
            case Args(ref, text):
                if ref not in self._calls:
                    raise msgspec.ValidationError("arguments of an unknown call")
                return [PartGrew(self._calls[ref], text)] if text else []
            case Closed(why, halt, tally):
                self.is_over = True
                events = self._end_part()
                if tally is not None:
                    events.append(UsageReported(usage_of(tally)))
                finish = FINISHES.get(why, "stop")
                return [*events, ChoiceEnded(finish, stop_sequence=halt)]

    def _grow(self, kind: type[Any], part: AnyPart, text: str) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if self._kind is not kind:
            events = [*self._end_part(), PartStarted(self._count, part)]
            self._kind, self._count = kind, self._count + 1
        return [*events, PartGrew(self._count - 1, text)] if text else events

    def _end_part(self) -> list[StreamEvent]:
        kind, self._kind = self._kind, None
        return [PartEnded(self._count - 1)] if kind is not None else []


class Reader:
    """A stream of the vendor, however its bytes are cut."""

    def __init__(self) -> None:
        self._frames = EventDecoder()
        self._answer = EventReader()

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        try:
            return self._read(self._frames.feed(chunk))
        except FrameTooLong as error:
            return self._fail(str(error))

    def close(self) -> Sequence[StreamEvent]:
        events = self._read(self._frames.close())
        return [*events, *self._fail(CUT_SHORT)]

    def _read(self, frames: Sequence[tuple[bytes, bytes]]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for _, data in frames:
            if self._answer.is_over:
                break
            try:
                event = read_event(data)
                events += self._answer.take(event) if event is not None else ()
            except UNREADABLE:
                events += self._fail(UNREADABLE_EVENT)
        return events

    def _fail(self, message: str) -> list[StreamEvent]:
        was_over, self._answer.is_over = self._answer.is_over, True
        return [] if was_over else [ReplyFailed(message)]


def read_event(data: bytes) -> Event | None:
    """``None`` for an event of a later version."""
    try:
        return _event.decode(data)
    except msgspec.ValidationError:
        if _kind.decode(data).kind in _KNOWN:
            raise
        return None


def usage_of(tally: Tally) -> Usage:
    fresh, held = max(0, tally.fresh), max(0, tally.held)
    out, musing = max(0, tally.out), max(0, tally.musing)
    return Usage(
        input_tokens=fresh + held,
        output_tokens=out + musing,
        cached_tokens=held,
        reasoning_tokens=musing,
    )


def read_reply(body: bytes) -> Reply:
    try:
        answer = _answer.decode(body)
    except UNREADABLE:
        raise UpstreamError("Larch gave an answer that could not be read") from None
    if isinstance(answer, Trouble):
        raise as_error(ReplyFailed(answer.words, answer.kind, retry_after=answer.wait_s))
    reader = EventReader()
    rows = (Opened(answer.ref, answer.engine), *answer.items)
    end = Closed(answer.why, answer.halt, answer.tally)
    return gather(event for row in (*rows, end) for event in reader.take(row))


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    try:
        answer = _answer.decode(body)
    except UNREADABLE:
        answer = None
    trouble = answer if isinstance(answer, Trouble) else Trouble("", plain_text(body))
    wait = retry_after(headers)
    return UpstreamError(
        first_line(trouble.words) or f"Larch answered with status {status}",
        status=status,
        kind=trouble.kind or None,
        request_id=request_id(headers),
        retry_after=trouble.wait_s if wait is None else wait,
    )


class Vendor:
    """Calls Larch."""

    def write_request(self, conversation: Conversation, target: Target, losses: Losses) -> bytes:
        return write_request(conversation, target, losses)

    def read_reply(self, body: bytes) -> Reply:
        return read_reply(body)

    def stream_reader(self) -> StreamReader:
        return Reader()

    def read_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return read_error(status, headers, body)

    def path(self, model: str, stream: bool) -> str:
        return "/generate"

    def relay(self, call: Call, target: Target, members: dict[str, Raw]) -> Relay:
        raise BadRequest("No client speaks this format")


LARCH_FORMAT = WireFormat(
    id="larch", dialect="larch", vendor=Vendor(), auth_header="x-larch-key", auth_prefix=""
)
LARCH = ProviderSpec(
    id="larch",
    name="Larch",
    format="larch",
    base_url="https://api.larch.example/v3",
    models_url="https://api.larch.example/v3/engines",
    environment=("LARCH_API_KEY",),
    auth=Auth(header="x-larch-key", scheme="raw"),
    headers={"larch-version": "2025-04-01"},
    timeout_ms=120_000,
    models=(
        Model("larch-1", context=200_000, max_output=8_192, tools=True, vision=True),
        Model(
            "larch-1-thinker",
            context=200_000,
            tools=True,
            reasoning=True,
            price=Price(input=2.0, output=8.0, cached=0.2),
        ),
    ),
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [LARCH_FORMAT]


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LARCH]
