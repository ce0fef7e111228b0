"""Aspen: a dialogue format of clients alone, in lines, with the model in the path.

API reference: https://aspen.example/dialogue
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
    Counting,
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
    Thinking,
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
    seal,
    unseal,
)
from gateway_formats.estimate import count_prompt_characters, estimate_tokens
from gateway_formats.ndjson import escape_line_separators, split_lines
from gateway_formats.sequence import Sequencer

GATEWAY_PROTOCOL = 1
CONFORMANCE = {"requests": {"aspen": "aspen_requests:BODIES"}}

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
DIALECT = "aspen"
SPEAKERS = {"human": "user", "machine": "assistant", "guide": "system"}
FINISHES = {
    "stop": "done",
    "length": "limit",
    "tool_calls": "tools",
    "content_filter": "blocked",
    "refusal": "declined",
    "pause": "paused",
    "error": "broken",
}
CONDITIONS = {400: "bad", 401: "who", 403: "barred", 404: "absent", 429: "busy", 503: "down"}
encode = msgspec.json.encode


class Source(Struct, frozen=True):
    mime: str | None = None
    b64: str | None = None
    href: str | None = None
    title: str | None = None


class Use(Struct, frozen=True):
    ref: str
    tool: str
    args: Raw = Raw(b"{}")


class Thought(Struct, frozen=True):
    text: str = ""
    proof: str | None = None


class Piece(Struct, frozen=True):
    """What a tool gave."""

    text: str | None = None
    picture: Source | None = None


class Outcome(Struct, frozen=True):
    ref: str
    pieces: list[Piece] = []
    ok: bool = True


class Block(Struct, frozen=True):
    text: str | None = None
    picture: Source | None = None
    file: Source | None = None
    sound: Source | None = None
    use: Use | None = None
    outcome: Outcome | None = None
    thought: Thought | None = None


class Line(Struct, frozen=True):
    speaker: str
    blocks: list[Block]
    name: str | None = None


class Entry(Struct, frozen=True):
    name: str
    purpose: str | None = None
    takes: Raw = Raw(b"null")
    strict: bool | None = None


class Dials(Struct, frozen=True):
    limit: int | None = None
    heat: float | None = None
    nucleus: float | None = None
    top: int | None = None
    floor: float | None = None
    seed: int | None = None
    halts: tuple[str, ...] = ()
    presence: float | None = None
    frequency: float | None = None


class Think(Struct, frozen=True):
    effort: str | None = None
    budget: int | None = None


class Ask(Struct, frozen=True, kw_only=True):
    brief: list[str] = []
    history: list[Line]
    toolbox: list[Entry] = []
    rule: str | list[str] | None = None
    together: bool | None = None
    dials: Dials = Dials()
    think: Think | None = None
    shape: Raw = Raw(b"null")
    who: str | None = None
    live: bool = False


_ask = msgspec.json.Decoder(Ask)
_live = msgspec.json.Decoder(bool | None)
_history = msgspec.json.Decoder(list[Line])


def read_request(call: Call) -> Conversation:
    """Raises BadRequest."""
    try:
        ask = _ask.decode(call.body)
    except UNREADABLE as error:
        raise BadRequest(f"The dialogue cannot be read: {error}") from None
    if not ask.history:
        raise BadRequest("history must not be empty", param="history")
    dials = ask.dials
    return Conversation(
        instructions=tuple(Text(text=text) for text in ask.brief),
        turns=tuple(map(read_line, ask.history)),
        tools=tuple(
            Tool(
                name=entry.name,
                description=entry.purpose,
                schema=None if bytes(entry.takes) == b"null" else entry.takes,
                strict=entry.strict,
            )
            for entry in ask.toolbox
        ),
        tool_choice=read_rule(ask.rule),
        parallel_tools=ask.together,
        sampling=Sampling(
            max_tokens=dials.limit,
            temperature=dials.heat,
            top_p=dials.nucleus,
            top_k=dials.top,
            min_p=dials.floor,
            seed=dials.seed,
            stop=dials.halts,
            presence_penalty=dials.presence,
            frequency_penalty=dials.frequency,
        ),
        thinking=ask.think and Thinking(effort=ask.think.effort, budget=ask.think.budget),
        output=None if bytes(ask.shape) == b"null" else Output(schema=ask.shape),
        user=ask.who,
        stream=ask.live,
        model=call.model,
        dialect=DIALECT,
        extra={k: v for k, v in call.members.items() if k not in Ask.__struct_fields__},
    )


def read_rule(rule: str | list[str] | None) -> ToolChoice | None:
    match rule:
        case None:
            return None
        case "free":
            return ToolChoice("auto")
        case "never":
            return ToolChoice("none")
        case "always":
            return ToolChoice("required")
        case [*names] if names:
            return ToolChoice("only", tuple(names))
    raise BadRequest("rule must be free, never, always or a list of tools", param="rule")


def read_line(line: Line) -> Turn:
    role = SPEAKERS.get(line.speaker)
    if role is None:
        raise BadRequest("speaker must be human, machine or guide", param="history.speaker")
    return Turn(role, tuple(map(read_block, line.blocks)), line.name)


def read_block(block: Block) -> AnyPart:
    match block:
        case Block(text=str() as text):
            return Text(text=text)
        case Block(picture=Source() as source):
            return read_source("image", source)
        case Block(file=Source() as source):
            return read_source("document", source)
        case Block(sound=Source() as source):
            return read_source("audio", source)
        case Block(use=Use() as use):
            return ToolCall(id=use.ref, name=use.tool, arguments=bytes(use.args).decode())
        case Block(outcome=Outcome() as outcome):
            pieces = tuple(map(read_piece, outcome.pieces))
            return ToolResult(call_id=outcome.ref, content=pieces, failed=not outcome.ok)
        case Block(thought=Thought(text, proof)):
            known = unseal(proof) if proof else None
            origin, signature = known or (f"~{DIALECT}" if proof else "", proof)
            return Reasoning(text=text, signature=signature, origin=origin)
    raise BadRequest("a block must hold one thing", param="history.blocks")


def read_piece(piece: Piece) -> Text | Media:
    if piece.picture is not None:
        return read_source("image", piece.picture)
    return Text(text=piece.text or "")


def read_source(kind: Any, source: Source) -> Media:
    if source.b64 is None and source.href is None:
        raise BadRequest("b64 or href must be there", param="history.blocks")
    return Media(
        kind=kind, media_type=source.mime, data=source.b64, url=source.href, name=source.title
    )


def note_losses(part: AnyPart, losses: Losses) -> None:
    losses.add_extra(part.extra, within="blocks")
    match part:
        case Media():
            losses.add(part.kind)
        case Text() if part.citations:
            losses.add("citations")
        case ToolCall() if part.custom:
            losses.add("tool:custom")
        case Reasoning() if part.sealed is not None:
            losses.add("reasoning_signature")
        case Text() | Refusal() | ToolCall() if part.signature is not None:
            losses.add("reasoning_signature")


def write_arguments(text: str) -> Any:
    """As an object; free text where it is none."""
    try:
        found = msgspec.json.decode(text or "{}", type=Raw)
        msgspec.json.decode(found)
    except UNREADABLE:
        return text
    return found


def write_block(part: AnyPart) -> dict[str, Any] | None:
    match part:
        case Text():
            return {"text": part.text}
        case Refusal():
            return {"declined": part.text}
        case Reasoning() if part.text or part.signature:
            proof = part.signature and seal(part.origin, part.signature)
            return {"thought": {"text": part.text, "proof": proof}}
        case ToolCall():
            args = write_arguments(part.arguments)
            return {"use": {"ref": part.id, "tool": part.name, "args": args}}
    return None


def write_usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {
        "heard": usage.input_tokens,
        "heard_cached": usage.cached_tokens,
        "spoken": usage.output_tokens,
        "spoken_thought": usage.reasoning_tokens,
    }


def write_reply(reply: Reply, losses: Losses) -> bytes:
    answers = []
    for choice in reply.choices or (Choice(),):
        if choice.logprobs is not None:
            losses.add("logprobs")
        for part in choice.parts:
            note_losses(part, losses)
        blocks = [block for part in choice.parts if (block := write_block(part)) is not None]
        answers.append(
            {"blocks": blocks, "because": FINISHES[choice.finish], "halt": choice.stop_sequence}
        )
    return encode(
        {
            "dialogue": reply.id,
            "engine": reply.model,
            "answers": answers,
            "meter": write_usage(reply.usage),
        }
    )


class Writer:
    """Events to lines."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._sequence = Sequencer()
        self._usage: Usage | None = None
        self._end: ChoiceEnded = ChoiceEnded("stop")
        self._kind = ""
        self._is_over = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        written = b""
        if any(getattr(event, "choice", 0) for event in events):
            self._losses.add("candidates")
        for event in self._sequence.feed(events):
            if not self._is_over:
                written += b"".join(map(line, self._take(event)))
        return written

    def close(self) -> bytes:
        if self._is_over:
            return b""
        self._is_over = True
        because, halt = FINISHES[self._end.finish], self._end.stop_sequence
        return line(
            {"close": {"because": because, "halt": halt, "meter": write_usage(self._usage)}}
        )

    def _take(self, event: StreamEvent) -> list[dict[str, Any]]:
        match event:
            case ReplyStarted():
                return [{"open": {"dialogue": event.id, "engine": event.model}}]
            case PartStarted(part=part):
                return self._begin(part)
            case PartGrew():
                if event.logprobs is not None:
                    self._losses.add("logprobs")
                return [{"more": {self._kind: event.text}}] if self._kind else []
            case PartSealed():
                if event.signature is None or self._kind != "thought":
                    self._losses.add("reasoning_signature")
                    return []
                return [{"more": {"proof": seal(event.origin, event.signature)}}]
            case PartEnded():
                return [{"shut": True}] if self._kind else []
            case CitationAdded():
                self._losses.add("citations")
            case UsageReported(usage):
                self._usage = usage
            case ChoiceEnded():
                self._end = event
            case ReplyFailed():
                self._is_over = True
                trouble = {"word": event.kind or "down", "text": event.message}
                return [{"trouble": {**trouble, "status": event.status}}]
        return []

    def _begin(self, part: AnyPart) -> list[dict[str, Any]]:
        note_losses(part, self._losses)
        match part:
            case Text(text=text):
                self._kind, block = "text", {"text": text}
            case Refusal(text=text):
                self._kind, block = "declined", {"declined": text}
            case Reasoning(text=text):
                proof = part.signature and seal(part.origin, part.signature)
                self._kind, block = "thought", {"thought": text, "proof": proof}
            case ToolCall():
                use = {"ref": part.id, "tool": part.name, "args": part.arguments}
                self._kind, block = "args", {"use": use}
            case _:
                self._kind = ""
                return []
        return [{"block": block}]


def line(row: dict[str, Any]) -> bytes:
    return escape_line_separators(encode(row)) + b"\n"


def write_error(error: GatewayError, request_id: str) -> bytes:
    word = error.kind if isinstance(error, UpstreamError) else None
    trouble = {
        "word": word or CONDITIONS.get(error.status, "broken"),
        "text": error.message,
        "status": error.status,
        "code": error.code,
        "param": error.param,
        "wait": error.retry_after,
        "request_id": request_id,
    }
    return encode({"trouble": trouble})


def words(stream: bytes) -> list[str]:
    if stream and not stream.endswith(b"\n"):
        return ["rubbish"]
    found = []
    for each in split_lines(stream):
        try:
            (word,) = msgspec.json.decode(each, type=dict[str, Any])
        except (*UNREADABLE, ValueError):
            word = "rubbish"
        found.append(word)
    return found


GRAMMAR = Grammar(
    words=words,
    pattern=r"(open (block (more )*shut )*close )|(open (block |more |shut )*)?trouble ",
)


class Client:
    """Serves clients of Aspen."""

    def read_request(self, call: Call) -> Conversation:
        return read_request(call)

    def write_reply(self, reply: Reply, request: Conversation, losses: Losses) -> bytes:
        return write_reply(reply, losses)

    def stream_writer(self, request: Conversation, losses: Losses) -> StreamWriter:
        return Writer(losses)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return write_error(error, request_id)


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    try:
        live = _live.decode(members.get("live", Raw(b"null"))) or False
    except UNREADABLE:
        raise BadRequest("live must be true or false", param="live") from None
    return Intake(path.get("model", ""), live, urls=addresses(members))


def addresses(members: Mapping[str, Raw]) -> tuple[str, ...]:
    try:
        history = _history.decode(members.get("history", Raw(b"[]")))
    except UNREADABLE:
        return ()
    blocks = [block for each in history for block in each.blocks]
    inner = [piece.picture for block in blocks if block.outcome for piece in block.outcome.pieces]
    sources = [each for block in blocks for each in (block.picture, block.file, block.sound)]
    return tuple(each.href for each in (*sources, *inner) if each is not None and each.href)


def estimate(body: bytes) -> bytes:
    call = Call(kind="llm", format="aspen", model="", stream=False, body=body)
    return encode({"heard": estimate_tokens(count_prompt_characters(read_request(call)))})


COUNTING = Counting(path=lambda model: f"/aspen/{model}/measure", estimate=estimate)
ASPEN = WireFormat(
    id="aspen",
    dialect=DIALECT,
    endpoints=(
        Endpoint(path="/aspen/{model}/dialogue", read=read_intake),
        Endpoint(path="/aspen/{model}/measure", read=read_intake, counting=COUNTING),
    ),
    client=Client(),
    stream_type="application/x-ndjson",
    grammar=GRAMMAR,
    model_in_body=False,
    late_error=lambda body: body + b"\n",
    spelling={"stop": "dials.halts", "max_tokens": "dials.limit"},
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [ASPEN]
