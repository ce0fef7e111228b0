"""One choice of a reply in progress: which part is open, and what each new piece adds.

The members of a delta: https://platform.openai.com/docs/api-reference/chat/streaming. Those that
other vendors add are read beside them.
"""

from typing import Any

from msgspec import Raw

from gateway_core import (
    AnyPart,
    BadRequest,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    StreamEvent,
    Text,
)

from .._chunks import CallDelta, Delta, Function, tokens_in
from .._contents import read_citation, split_data_url, thinking_text
from .._finish import read_finish
from .._history import read_detail, read_signature
from .._members import DIALECT, anything_of, encode
from .calls import Calls, arguments_text
from .speech import Speech

_TEXT, _THINKING, _REFUSAL = "text", "thinking", "refusal"
_EMPTY: dict[str, AnyPart] = {
    _TEXT: Text(text=""),
    _THINKING: Reasoning(),
    _REFUSAL: Refusal(text=""),
}


class OpenChoice:
    """Parts start, grow and end; text, thinking and refusals one at a time, calls beside them."""

    __slots__ = (
        "_calls",
        "_citations",
        "_detail",
        "_has_refusal",
        "_index",
        "_kind",
        "_part",
        "_parts",
        "_signature",
        "_speech",
        "finish_reason",
        "stop_reason",
    )

    def __init__(self, reply: str, index: int, *, is_whole: bool = False) -> None:
        self.finish_reason: str | None = None
        """In the vendor's word. It is not the end: one vendor repeats it after each of several
        tool calls."""
        self.stop_reason: object = None
        """The stop sequence that was met, or something else."""
        self._index = index
        self._calls = Calls(reply, index, is_whole=is_whole)
        self._parts = 0
        self._part = -1
        self._kind = ""
        self._detail: tuple[object, object] | None = None
        self._citations: list[Citation] = []
        self._signature: str | None = None
        """Of the whole message; its part is known at the end."""
        self._speech: Speech | None = None
        self._has_refusal = False

    def take(self, delta: Delta, logprobs: object, out: list[StreamEvent]) -> None:
        tokens = tokens_in(logprobs) if logprobs is not None else None
        before = len(out)
        if delta.extra_content is not None:
            # A signature is of the whole message, or of the call that is all the message holds.
            calls = delta.tool_calls
            if calls and not self._calls and not delta.content and self._kind != _TEXT:
                calls[0].extra_content = calls[0].extra_content or delta.extra_content
            else:
                self._signature = read_signature(delta.extra_content) or self._signature
        if delta.reasoning_details:
            # The plain text beside the details repeats them:
            # https://openrouter.ai/docs/use-cases/reasoning-tokens
            for raw in delta.reasoning_details:
                self._take_detail(raw, out)
        elif delta.reasoning_content or delta.reasoning:
            text = delta.reasoning_content or delta.reasoning
            if isinstance(text, str):
                self._grow(_THINKING, text, out)
        content = delta.content
        if content:
            if isinstance(content, str):
                if self._kind != _TEXT:
                    self._open(_TEXT, _EMPTY[_TEXT], out)
                out.append(PartGrew(self._part, content, self._index))
            elif isinstance(content, dict):
                self._grow(_TEXT, encode(content).decode(), out)
            else:
                self._take_pieces(content, out)
        if delta.refusal and isinstance(delta.refusal, str):
            self._grow(_REFUSAL, delta.refusal, out)
        if delta.tool_calls or delta.function_call is not None:
            calls = delta.tool_calls or []
            if delta.function_call is not None:
                # The older member has room for one call, whose pieces carry no index.
                text = arguments_text(delta.function_call.arguments)
                older = Function(delta.function_call.name, text)
                calls = [*calls, CallDelta(index=0, function=older)]
            for call in calls:
                events: list[StreamEvent] = []
                if self._calls.take(call, self._parts, events):
                    self._close(out)
                    self._parts += 1
                out += events
        if delta.annotations or delta.images or delta.audio is not None:
            self._take_rare(delta, out)
        if tokens is not None:
            # Log probabilities ride on the first text that came with them.
            for position in range(before, len(out)):
                event = out[position]
                if isinstance(event, PartGrew):
                    out[position] = PartGrew(event.index, event.text, event.choice, tokens)
                    break
            else:
                if self._kind:
                    out.append(PartGrew(self._part, "", self._index, tokens))

    def end(self, sources: tuple[Citation, ...], out: list[StreamEvent]) -> None:
        speech = self._speech.part() if self._speech is not None else None
        if speech is not None:
            self._add(speech, out)
        self._citations += sources
        if self._citations:
            if self._kind != _TEXT:
                self._open(_TEXT, _EMPTY[_TEXT], out)
            self._add_citations(out)
        if self._signature is not None:
            # A signature of the whole message belongs to its text, or else to its calls.
            if self._kind == _TEXT:
                out.append(PartSealed(self._part, self._signature, None, self._index))
            else:
                self._calls.seal(self._signature, out)
        self._close(out)
        has_calls = bool(self._calls)
        self._calls.end(out)
        only_refusal = self._has_refusal and self._parts == 1
        finish = read_finish(self.finish_reason, has_calls, only_refusal)
        stop = self.stop_reason if isinstance(self.stop_reason, str) else None
        out.append(ChoiceEnded(finish, self._index, stop if finish == "stop" else None))

    def _grow(self, kind: str, text: str, out: list[StreamEvent]) -> None:
        if self._kind != kind:
            self._open(kind, _EMPTY[kind], out)
        out.append(PartGrew(self._part, text, self._index))

    def _open(self, kind: str, part: AnyPart, out: list[StreamEvent]) -> None:
        self._close(out)
        self._kind, self._part = kind, self._parts
        self._parts += 1
        self._has_refusal |= kind == _REFUSAL
        out.append(PartStarted(self._part, part, self._index))

    def _close(self, out: list[StreamEvent]) -> None:
        if self._kind == _TEXT:
            self._add_citations(out)
        if self._kind:
            out.append(PartEnded(self._part, self._index))
        self._kind, self._detail = "", None

    def _add_citations(self, out: list[StreamEvent]) -> None:
        """Give the citations that waited for the open text."""
        if self._citations:
            citations, self._citations = self._citations, []
            out += (CitationAdded(self._part, each, self._index) for each in citations)

    def _add(self, part: AnyPart, out: list[StreamEvent]) -> None:
        """A part that comes whole."""
        self._open("whole", part, out)
        self._close(out)

    def _take_detail(self, raw: Raw, out: list[StreamEvent]) -> None:
        """Pieces of one kind and index are one part."""
        try:
            part = read_detail(raw, "", "reasoning_details")
        except BadRequest:
            return
        if isinstance(part, Foreign) or part.sealed is not None:
            self._add(part, out)
            return
        index = part.extra.get("index")
        key = (part.summary, None if index is None else bytes(index))
        if self._detail != key:
            if not part.text and not part.signature:
                return
            start = Reasoning(id=part.id, summary=part.summary, extra=part.extra)
            self._open(_THINKING, start, out)
            self._detail = key
        if part.text:
            out.append(PartGrew(self._part, part.text, self._index))
        if part.signature is not None:
            out.append(PartSealed(self._part, part.signature, None, self._index))

    def _take_pieces(self, pieces: list[Raw], out: list[StreamEvent]) -> None:
        # Magistral models answer with a list in which thinking and text take turns:
        # https://docs.mistral.ai/capabilities/reasoning
        for raw in pieces:
            piece = anything_of(raw)
            kind = piece.get("type") if isinstance(piece, dict) else None
            if kind == "text":
                text = piece.get("text")
                if text and isinstance(text, str):
                    self._grow(_TEXT, text, out)
            elif kind == "thinking":
                if text := thinking_text(piece.get("thinking")):
                    self._grow(_THINKING, text, out)
                signature = piece.get("signature")
                if signature and isinstance(signature, str) and self._kind == _THINKING:
                    out.append(PartSealed(self._part, signature, None, self._index))
            elif isinstance(kind, str):
                self._add(Foreign(dialect=DIALECT, type=kind, raw=raw), out)

    def _take_rare(self, delta: Delta, out: list[StreamEvent]) -> None:
        citations = (read_citation(raw) for raw in delta.annotations or ())
        self._citations += (citation for citation in citations if citation is not None)
        if self._kind == _TEXT:
            self._add_citations(out)
        for raw in delta.images or ():
            image = anything_of(raw)
            address = image.get("image_url") if isinstance(image, dict) else None
            url: Any = address.get("url") if isinstance(address, dict) else address
            if isinstance(url, str) and url:
                media_type, data = split_data_url(url)
                url = None if data is not None else url
                self._add(Media(kind="image", media_type=media_type, data=data, url=url), out)
        if delta.audio is not None:
            self._speech = self._speech or Speech()
            self._speech.add(delta.audio)
