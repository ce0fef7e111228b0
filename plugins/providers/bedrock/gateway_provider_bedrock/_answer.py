"""Converse's answer to events, block by block; a stream and a whole answer share every step.

Text and thinking blocks have no start of their own in a stream; they begin with
their first words. Citations may come before the text of their block, or in a
block of their own behind the text, so a text stays open until another part
begins. What a server tool did is put together and passed on whole.
"""

import base64
import binascii
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Finish,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UsageReported,
)

from ._shapes import CitationRow, UsageRow
from ._usage import usage_of

DIALECT = "bedrock"
# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "refusal": "refusal",
    "pause_turn": "pause",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
SERVER_TOOL = "server_tool_use"

_TEXT, _REASONING = Text(text=""), Reasoning()
_encode = msgspec.json.encode


class OpenBlock:
    """A block under way: its part's index and kind, and what must wait for its end."""

    __slots__ = ("index", "kind", "pieces", "waits")

    def __init__(self, index: int, kind: AnyPart | None, waits: dict[str, Any] | None) -> None:
        self.index = index
        self.kind = kind
        self.waits = waits
        """The block of a server tool, or a picture, that its pieces complete."""
        self.pieces: list[Any] = []


class AnswerReader:
    """Appends to ``events`` what each piece of an answer amounts to."""

    __slots__ = ("_blocks", "_cited", "_count", "_lingering", "_started", "events", "has_ended")

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []
        self.has_ended = False
        self._started = False
        self._count = 0
        self._blocks: dict[int, OpenBlock] = {}
        self._cited: dict[int, list[Citation]] = {}
        """Citations by block, until their text is known."""
        self._lingering: int | None = None
        """The text part whose block has ended."""

    def start(self) -> None:
        """The answer has neither an id nor a model's name."""
        if not self._started:
            self._started = True
            # messageStart has only a role.
            self.events.append(ReplyStarted("", ""))

    def text(self, at: int, text: str) -> None:
        if text:
            self.events.append(PartGrew(self._growing(at, _TEXT).index, text))

    def cite(self, at: int, row: CitationRow) -> None:
        block, citation = self._blocks.get(at), citation_of(row)
        if block is not None and block.kind is _TEXT:
            self.events.append(CitationAdded(block.index, citation))
        else:
            self._cited.setdefault(at, []).append(citation)

    def think(self, at: int, text: str) -> None:
        if text:
            self.events.append(PartGrew(self._growing(at, _REASONING).index, text))

    def sign(self, at: int, signature: str) -> None:
        block = self._growing(at, _REASONING)
        self.events.append(PartSealed(block.index, signature=signature))

    def redact(self, at: int, sealed: str) -> None:
        """Sealed thinking may come in pieces, and is one event once it is whole."""
        self._growing(at, _REASONING).pieces.append(sealed)

    def begin_call(self, at: int, id: str, name: str) -> None:
        self._begin(at, ToolCall(id=id, name=name))

    def grow_call(self, at: int, arguments: str) -> None:
        block = self._blocks.get(at)
        if block is None or not arguments:
            return
        if block.waits is not None:
            block.pieces.append(arguments)
        elif isinstance(block.kind, ToolCall):
            block.pieces.append(arguments)
            self.events.append(PartGrew(block.index, arguments))

    def begin_foreign(self, at: int, block: dict[str, Any]) -> None:
        """A block of a server's tool or a picture: ``block`` has one member, which is completed."""
        self.end_block(at)
        self._blocks[at] = OpenBlock(-1, None, block)

    def grow_foreign(self, at: int, piece: Any) -> None:
        block = self._blocks.get(at)
        if block is not None and block.waits is not None:
            block.pieces.append(piece)

    def add(self, part: AnyPart) -> None:
        """A part that comes whole."""
        self._settle()
        self.events += (PartStarted(self._count, part), PartEnded(self._count))
        self._count += 1

    def end_block(self, at: int) -> None:
        block = self._blocks.pop(at, None)
        if block is None:
            # Give a block of nothing but citations to the text that it follows.
            cited = self._cited.pop(at, ())
            if self._lingering is not None:
                self.events += (CitationAdded(self._lingering, citation) for citation in cited)
        elif block.waits is not None:
            self.add(completed(block.waits, block.pieces))
        elif block.kind is _TEXT:
            self._lingering = block.index
        else:
            if isinstance(block.kind, ToolCall) and not block.pieces:
                # A call without arguments has no toolUse delta; the hub's arguments are JSON.
                self.events.append(PartGrew(block.index, "{}"))
            if block.kind is _REASONING and block.pieces:
                self.events.append(PartSealed(block.index, sealed=joined_base64(block.pieces)))
            self.events.append(PartEnded(block.index))

    def finish(self, reason: str | None, stop_sequence: str | None) -> None:
        for at in sorted({*self._blocks, *self._cited}):
            self.end_block(at)
        self._settle()
        finish = FINISHES.get(reason or "", "stop")
        failure = None
        if finish == "error":
            failure = f"The upstream ended the model's turn with {reason}"
        self.events.append(ChoiceEnded(finish, 0, stop_sequence, failure=failure))
        self.has_ended = True

    def count(self, row: UsageRow | None) -> None:
        usage = usage_of(row)
        if usage is not None:
            self.events.append(UsageReported(usage))

    def _growing(self, at: int, kind: AnyPart) -> OpenBlock:
        block = self._blocks.get(at)
        if block is None or block.kind is not kind:
            block = self._begin(at, kind)
            if kind is _TEXT:
                cited = self._cited.pop(at, ())
                self.events += (CitationAdded(block.index, citation) for citation in cited)
        return block

    def _begin(self, at: int, part: AnyPart) -> OpenBlock:
        if at in self._blocks:
            self.end_block(at)
        self._settle()
        self.events.append(PartStarted(self._count, part))
        block = self._blocks[at] = OpenBlock(self._count, part, None)
        self._count += 1
        return block

    def _settle(self) -> None:
        if self._lingering is not None:
            self.events.append(PartEnded(self._lingering))
            self._lingering = None


def citation_of(row: CitationRow) -> Citation:
    place = row.location
    url, document = row.source, None
    if place is not None:
        url = place.web.url if place.web is not None else url
        span = place.documentChar or place.documentPage or place.documentChunk
        document = span.documentIndex if span is not None else None
    quote = "".join(piece.text for piece in row.sourceContent or ())
    return Citation(url=url, title=row.title, quote=quote or None, document=document)


def completed(block: dict[str, Any], pieces: list[Any]) -> AnyPart:
    """A block from its start and the pieces that came after it."""
    ((name, start),) = block.items()
    if name == "image":
        data = "".join(piece for piece in pieces if isinstance(piece, str))
        return Media(kind="image", media_type=f"image/{start['format']}", data=data)
    if name == "toolUse":
        text = "".join(map(str, pieces))
        try:
            arguments = msgspec.json.decode(text or "{}", type=Raw)
        except msgspec.MsgspecError:
            # Pieces that make no JSON are kept as a text.
            arguments = Raw(_encode(text))
        return foreign(SERVER_TOOL, {name: {**start, "input": arguments}})
    return foreign(name, {name: {**start, "content": pieces} if pieces else start})


def foreign(type: str, block: Any) -> Foreign:
    return Foreign(dialect=DIALECT, type=type, raw=Raw(_encode(block)))


def joined_base64(pieces: list[str]) -> str:
    """Pieces of base64, each whole in itself, as one."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        # Each piece has its own padding, so the texts cannot simply be joined.
        return base64.b64encode(b"".join(base64.b64decode(piece) for piece in pieces)).decode()
    except binascii.Error:
        return "".join(pieces)
