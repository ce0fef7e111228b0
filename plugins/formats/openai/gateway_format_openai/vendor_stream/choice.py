"""One choice of an answer in motion: which part is open, and what to do with each new piece."""

import base64
import binascii
from dataclasses import dataclass, field
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

from .._chunks import Audio, CallDelta, Delta, Function, tokens_in
from .._contents import read_citation, split_data_url, thinking_text
from .._finish import read_finish
from .._history import read_detail, read_signature
from .._members import DIALECT, anything_of, encode
from .calls import Calls, arguments_text

_TEXT, _THINKING, _REFUSAL = "text", "thinking", "refusal"

_FRESH: dict[str, AnyPart] = {
    _TEXT: Text(text=""),
    _THINKING: Reasoning(),
    _REFUSAL: Refusal(text=""),
}


@dataclass(slots=True)
class _Speech:
    """Spoken words, gathered until they are whole."""

    id: str | None = None
    expires_at: Any = None
    data: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)


class OpenChoice:
    """Parts start, grow and end; text, thinking and refusals one at a time, calls beside them."""

    __slots__ = (
        "_calls",
        "_cited",
        "_detail",
        "_has_refusal",
        "_index",
        "_kind",
        "_part",
        "_parts",
        "_proof",
        "_speech",
        "met",
        "word",
    )

    def __init__(self, reply: str, index: int, *, is_whole: bool = False) -> None:
        self.word: str | None = None
        """Why the choice ended, in the vendor's word. It is not the end: one vendor says it
        after each of several tool calls."""
        self.met: object = None
        """The stop sequence that was met, or something else."""
        self._index = index
        self._calls = Calls(reply, index, is_whole=is_whole)
        self._parts = 0
        self._part = -1
        self._kind = ""
        self._detail: tuple[object, object] | None = None
        self._cited: list[Citation] = []
        self._proof: str | None = None
        self._speech: _Speech | None = None
        self._has_refusal = False

    def take(self, delta: Delta, logprobs: object, out: list[StreamEvent]) -> None:
        tokens = tokens_in(logprobs) if logprobs is not None else None
        before = len(out)
        if delta.extra_content is not None:
            self._prove(delta)
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._think(delta, out)
        content = delta.content
        if content:
            if isinstance(content, str):
                if self._kind != _TEXT:
                    self._open(_TEXT, _FRESH[_TEXT], out)
                out.append(PartGrew(self._part, content, self._index))
            else:
                self._take_pieces(content, out)
        if delta.refusal and isinstance(delta.refusal, str):
            self._grow(_REFUSAL, delta.refusal, out)
        if delta.tool_calls or delta.function_call is not None:
            self._call(delta, out)
        if delta.annotations or delta.images or delta.audio is not None:
            self._take_rare(delta, out)
        if tokens is not None:
            self._attach(tokens, before, out)

    def end(self, sources: tuple[Citation, ...], out: list[StreamEvent]) -> None:
        self._speak(out)
        self._cite((*self._cited, *sources), out)
        self._seal(out)
        self._close(out)
        has_calls = bool(self._calls)
        self._calls.end(out)
        only_refusal = self._has_refusal and self._parts == 1
        finish = read_finish(self.word, has_calls, only_refusal)
        stop = self.met if isinstance(self.met, str) and finish == "stop" else None
        out.append(ChoiceEnded(finish, self._index, stop))

    def _grow(self, kind: str, text: str, out: list[StreamEvent]) -> None:
        if self._kind != kind:
            self._open(kind, _FRESH[kind], out)
        out.append(PartGrew(self._part, text, self._index))

    def _open(self, kind: str, part: AnyPart, out: list[StreamEvent]) -> None:
        self._close(out)
        self._kind, self._part = kind, self._parts
        self._parts += 1
        self._has_refusal |= kind == _REFUSAL
        out.append(PartStarted(self._part, part, self._index))

    def _close(self, out: list[StreamEvent]) -> None:
        if self._kind == _TEXT and self._cited:
            cited, self._cited = self._cited, []
            out += (CitationAdded(self._part, citation, self._index) for citation in cited)
        if self._kind:
            out.append(PartEnded(self._part, self._index))
        self._kind, self._detail = "", None

    def _add(self, part: AnyPart, out: list[StreamEvent]) -> None:
        """A part that comes whole."""
        self._open("whole", part, out)
        self._close(out)

    def _think(self, delta: Delta, out: list[StreamEvent]) -> None:
        if delta.reasoning_details:
            for raw in delta.reasoning_details:
                self._take_detail(raw, out)
            return
        text = delta.reasoning_content or delta.reasoning
        if text and isinstance(text, str):
            self._grow(_THINKING, text, out)

    def _take_detail(self, raw: Raw, out: list[StreamEvent]) -> None:
        """Pieces of one kind and number are one part; the plain text beside them repeats them."""
        try:
            part = read_detail(raw, "", "reasoning_details")
        except BadRequest:
            return
        if isinstance(part, Foreign):
            self._add(part, out)
            return
        key = (part.summary, _number(part.extra))
        is_empty = not part.text and not part.signature
        if part.sealed is not None:
            self._add(part, out)
            return
        if is_empty and self._detail != key:
            return
        if self._detail != key:
            fresh = Reasoning(id=part.id, summary=part.summary, extra=part.extra)
            self._open(_THINKING, fresh, out)
            self._detail = key
        if part.text:
            out.append(PartGrew(self._part, part.text, self._index))
        if part.signature is not None:
            out.append(PartSealed(self._part, part.signature, None, self._index))

    def _take_pieces(self, pieces: list[Raw], out: list[StreamEvent]) -> None:
        """One vendor's content is a list in which thinking and text take turns."""
        for raw in pieces:
            piece = anything_of(raw)
            kind = piece.get("type") if isinstance(piece, dict) else None
            if kind == "text":
                text = piece.get("text")
                if text and isinstance(text, str):
                    self._grow(_TEXT, text, out)
            elif kind == "thinking":
                self._take_thinking(piece, out)
            elif isinstance(kind, str):
                self._add(Foreign(dialect=DIALECT, type=kind, raw=raw), out)

    def _take_thinking(self, piece: dict[str, Any], out: list[StreamEvent]) -> None:
        text = thinking_text(piece.get("thinking"))
        if text:
            self._grow(_THINKING, text, out)
        signature = piece.get("signature")
        if signature and isinstance(signature, str) and self._kind == _THINKING:
            out.append(PartSealed(self._part, signature, None, self._index))

    def _call(self, delta: Delta, out: list[StreamEvent]) -> None:
        calls = delta.tool_calls or []
        if delta.function_call is not None:
            calls = [*calls, _older(delta.function_call)]
        for call in calls:
            fresh: list[StreamEvent] = []
            if self._calls.take(call, self._parts, fresh):
                self._close(out)
                self._parts += 1
            out += fresh

    def _take_rare(self, delta: Delta, out: list[StreamEvent]) -> None:
        found = (read_citation(raw) for raw in delta.annotations or ())
        self._cited += (citation for citation in found if citation is not None)
        if self._kind == _TEXT and self._cited:
            cited, self._cited = self._cited, []
            out += (CitationAdded(self._part, citation, self._index) for citation in cited)
        for raw in delta.images or ():
            image = _image(raw)
            if image is not None:
                self._add(image, out)
        if delta.audio is not None:
            self._listen(delta.audio)

    def _listen(self, audio: Audio) -> None:
        speech = self._speech = self._speech or _Speech()
        if audio.id and isinstance(audio.id, str):
            speech.id = audio.id
        if audio.data and isinstance(audio.data, str):
            speech.data.append(audio.data)
        if isinstance(audio.transcript, str):
            speech.transcript.append(audio.transcript)
        speech.expires_at = audio.expires_at or speech.expires_at

    def _speak(self, out: list[StreamEvent]) -> None:
        speech = self._speech
        if speech is None or not (speech.id or speech.data):
            return
        extra = {} if speech.expires_at is None else {"expires_at": Raw(encode(speech.expires_at))}
        part = Media(
            kind="audio",
            file_id=speech.id,
            data=_joined(speech.data),
            text="".join(speech.transcript) or None,
            extra=extra,
        )
        self._add(part, out)

    def _cite(self, citations: tuple[Citation, ...], out: list[StreamEvent]) -> None:
        self._cited = []
        if not citations:
            return
        if self._kind != _TEXT:
            self._open(_TEXT, _FRESH[_TEXT], out)
        out += (CitationAdded(self._part, citation, self._index) for citation in citations)

    def _prove(self, delta: Delta) -> None:
        """Keep a proof of the whole message, or give it to the call that is all it says."""
        calls = delta.tool_calls
        if calls and not self._calls and not delta.content and self._kind != _TEXT:
            calls[0].extra_content = calls[0].extra_content or delta.extra_content
        else:
            self._proof = read_signature(delta.extra_content) or self._proof

    def _seal(self, out: list[StreamEvent]) -> None:
        """A proof of the whole message belongs to its text, or else to its calls."""
        if self._proof is None:
            return
        if self._kind == _TEXT:
            out.append(PartSealed(self._part, self._proof, None, self._index))
        else:
            self._calls.seal(self._proof, out)

    def _attach(self, tokens: Raw, before: int, out: list[StreamEvent]) -> None:
        """Log probabilities ride on the first text that came with them."""
        for position in range(before, len(out)):
            event = out[position]
            if isinstance(event, PartGrew):
                out[position] = PartGrew(event.index, event.text, event.choice, tokens)
                return
        if self._kind:
            out.append(PartGrew(self._part, "", self._index, tokens))


def _number(extra: Any) -> object:
    raw = extra.get("index")
    return None if raw is None else bytes(raw)


def _older(function: Function) -> CallDelta:
    """The one call that older answers have room for."""
    text = arguments_text(function.arguments)
    return CallDelta(index=0, function=Function(function.name, text))


def _image(raw: Raw) -> Media | None:
    value = anything_of(raw)
    image = value.get("image_url") if isinstance(value, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or not url:
        return None
    media_type, data = split_data_url(url)
    return Media(
        kind="image", media_type=media_type, data=data, url=None if data is not None else url
    )


def _joined(pieces: list[str]) -> str | None:
    """Pieces of base64 as one; each may have its own padding."""
    if len(pieces) < 2:
        return pieces[0] if pieces else None
    try:
        return base64.b64encode(b"".join(map(base64.b64decode, pieces))).decode()
    except (binascii.Error, ValueError):
        return "".join(pieces)
