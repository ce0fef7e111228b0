"""Maple: a wire format that clients speak and no vendor does.

API reference: https://maple.example/ask
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    Choice,
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Endpoint,
    GatewayError,
    Grammar,
    Intake,
    Losses,
    Media,
    Output,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    Sampling,
    StreamEvent,
    StreamWriter,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    UpstreamError,
    Usage,
    UsageReported,
    WireFormat,
    hookimpl,
)
from gateway_formats.intake import read_routing
from gateway_formats.sequence import Sequencer
from gateway_formats.sse import parse_frame, split_frames, write_frame

GATEWAY_PROTOCOL = 1
CONFORMANCE = {"requests": {"maple": "maple_requests:BODIES"}}

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
DIALECT = "maple"
LOGPROBS = "logprobs"
SAMPLING = ("max_tokens", "temperature", "top_p", "seed", "stop")
FINISHES = {
    "stop": "complete",
    "length": "cut",
    "tool_calls": "actions",
    "content_filter": "filtered",
    "refusal": "filtered",
    "pause": "paused",
    "error": "failed",
}
encode = msgspec.json.encode


class Say(Struct, frozen=True, tag_field="t", tag="say"):
    text: str


class Show(Struct, frozen=True, tag_field="t", tag="show"):
    media_type: str
    base64: str


class Act(Struct, frozen=True, tag_field="t", tag="act"):
    id: str
    name: str
    input: str


class Done(Struct, frozen=True, tag_field="t", tag="done"):
    id: str
    text: str
    failed: bool = False


class Line(Struct, frozen=True):
    who: str
    parts: list[Say | Show | Act | Done]


class Action(Struct, frozen=True):
    name: str
    about: str | None = None
    input: Raw = Raw(b"null")


class Ask(Struct, frozen=True, kw_only=True):
    model: str = ""
    stream: bool = False
    rules: list[str] = []
    lines: list[Line]
    actions: list[Action] = []
    must_act: bool | str = False
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    answer_schema: Raw = Raw(b"null")
    user: str | None = None


_ask = msgspec.json.Decoder(Ask)
ROLES = {"me": "user", "you": "assistant", "rule": "system"}


def read_request(call: Call) -> Conversation:
    """Raises BadRequest."""
    try:
        ask = _ask.decode(call.body)
    except UNREADABLE as error:
        raise BadRequest(f"The request cannot be read: {error}") from None
    if not ask.lines:
        raise BadRequest("lines must hold at least one line", param="lines")
    schema = ask.answer_schema
    return Conversation(
        instructions=tuple(Text(text=rule) for rule in ask.rules),
        turns=tuple(map(read_line, ask.lines)),
        tools=tuple(
            Tool(
                name=action.name,
                description=action.about,
                schema=None if bytes(action.input) == b"null" else action.input,
            )
            for action in ask.actions
        ),
        tool_choice=read_choice(ask.must_act),
        sampling=Sampling(**{name: getattr(ask, name) for name in SAMPLING}),
        output=None if bytes(schema) == b"null" else Output(schema=schema, name="answer"),
        user=ask.user,
        stream=ask.stream,
        model=ask.model,
        dialect=DIALECT,
        extra={k: v for k, v in call.members.items() if k not in Ask.__struct_fields__},
    )


def read_choice(must_act: bool | str) -> ToolChoice | None:
    if isinstance(must_act, str):
        return ToolChoice(mode="only", names=(must_act,))
    return ToolChoice(mode="required") if must_act else None


def read_line(line: Line) -> Turn:
    if line.who not in ROLES:
        raise BadRequest(f"who must be one of {', '.join(ROLES)}", param="lines.who")
    return Turn(ROLES[line.who], tuple(map(read_part, line.parts)))


def read_part(part: Say | Show | Act | Done) -> AnyPart:
    match part:
        case Say(text):
            return Text(text=text)
        case Show(media_type, base64):
            return Media(kind="image", media_type=media_type, data=base64)
        case Act(id, name, input):
            return ToolCall(id=id, name=name, arguments=input)
        case Done(id, text, failed):
            return ToolResult(call_id=id, content=(Text(text=text),), failed=failed)


def note_part(part: AnyPart, losses: Losses) -> None:
    if part.signature is not None or (isinstance(part, Reasoning) and part.sealed is not None):
        losses.add("reasoning_signature")
    losses.add_extra(part.extra, within="content")
    match part:
        case Refusal():
            losses.add("refusal")
        case Reasoning():
            losses.add("reasoning")
        case Media():
            losses.add(part.kind)
        case Text() if part.citations:
            losses.add("citations")
        case ToolCall() if part.custom:
            losses.add("tool:custom")


def usage_of(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {
        "prompt": usage.input_tokens,
        "answer": usage.output_tokens,
        "cached": usage.cached_tokens,
        "thought": usage.reasoning_tokens,
    }


def write_reply(reply: Reply, conversation: Conversation, losses: Losses) -> bytes:
    if len(reply.choices) > 1:
        losses.add("candidates")
    choice = reply.choices[0] if reply.choices else Choice()
    if choice.logprobs is not None:
        losses.add("logprobs")
    if choice.stop_sequence is not None:
        losses.add("stop_sequence")
    said: list[dict[str, Any]] = []
    for part in choice.parts:
        note_part(part, losses)
        match part:
            case Text() | Refusal():
                said.append({"t": "say", "text": part.text})
            case ToolCall():
                said.append({"t": "act", "id": part.id, "name": part.name, "input": part.arguments})
    return encode(
        {
            "id": reply.id,
            "model": reply.model,
            "parts": said,
            "end": FINISHES[choice.finish],
            "used": usage_of(reply.usage),
        }
    )


class Writer:
    """Events to Maple's stream."""

    def __init__(self, conversation: Conversation, losses: Losses) -> None:
        self._losses = losses
        self._parts = Sequencer()
        self._part: AnyPart | None = None
        self._usage: Usage | None = None
        self._finish = "stop"
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if any(getattr(event, "choice", 0) for event in events):
            self._losses.add("candidates")
        rows: list[dict[str, Any]] = []
        for event in self._parts.feed(events):
            if not self._failed:
                rows += self._take(event)
        return b"".join(write_frame(encode(row)) for row in rows)

    def close(self) -> bytes:
        if self._failed:
            return b""
        row = {"t": "end", "end": FINISHES[self._finish], "used": usage_of(self._usage)}
        return write_frame(encode(row))

    def _take(self, event: StreamEvent) -> Sequence[dict[str, Any]]:
        if isinstance(event, PartGrew) and event.logprobs is not None:
            self._losses.add(LOGPROBS)
        match event:
            case ReplyStarted():
                return ({"t": "begin", "id": event.id, "model": event.model},)
            case PartStarted(part=part):
                return self._begin(part)
            case PartGrew(text=text) if isinstance(self._part, Text | Refusal):
                return ({"t": "say", "text": text},)
            case PartGrew(text=text) if isinstance(self._part, ToolCall):
                return ({"t": "act+", "id": self._part.id, "input": text},)
            case PartEnded():
                self._part = None
            case PartSealed():
                self._losses.add("reasoning_signature")
            case CitationAdded():
                self._losses.add("citations")
            case UsageReported(usage):
                self._usage = usage
            case ChoiceEnded():
                self._finish = event.finish
                if event.stop_sequence is not None:
                    self._losses.add("stop_sequence")
            case ReplyFailed():
                self._failed = True
                return ({"t": "fail", "kind": event.kind, "why": event.message},)
        return ()

    def _begin(self, part: AnyPart) -> Sequence[dict[str, Any]]:
        note_part(part, self._losses)
        self._part = part
        match part:
            case ToolCall():
                row = {"t": "act", "id": part.id, "name": part.name, "input": part.arguments}
                return (row,)
            case Text() | Refusal() if part.text:
                return ({"t": "say", "text": part.text},)
        return ()


def write_error(error: GatewayError, request_id: str) -> bytes:
    kind = error.kind if isinstance(error, UpstreamError) else None
    body = {
        "t": "fail",
        "why": error.message,
        "kind": kind or error.type,
        "code": error.code,
        "param": error.param,
        "request": request_id,
    }
    return encode(body)


def words(stream: bytes) -> list[str]:
    found = []
    for block in split_frames(stream):
        _, data = parse_frame(block)
        try:
            found.append(str(msgspec.json.decode(data)["t"]))
        except (*UNREADABLE, KeyError, TypeError):
            found.append("rubbish")
    return found


GRAMMAR = Grammar(words=words, pattern=r"(begin (say |act (act\+ )*)*)?(end |fail )")


class Client:
    """Serves clients of Maple."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, conversation: Conversation, losses: Losses) -> bytes:
        return write_reply(reply, conversation, losses)

    def stream_writer(self, conversation: Conversation, losses: Losses) -> StreamWriter:
        return Writer(conversation, losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    return read_routing(path, headers, members)


MAPLE = WireFormat(
    id="maple",
    dialect=DIALECT,
    endpoints=(Endpoint(path="/v1/maple/ask", read=read_intake),),
    client=Client(),
    grammar=GRAMMAR,
    late_error=write_frame,
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [MAPLE]
