"""Pieces of a message and of thinking while the gateway writes them."""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Raw

from gateway_core import Citation, Losses

from .._annotations import write_annotation
from .._frames import Frames, opening
from .._logprobs import rows_within

_encode: Final = msgspec.json.Encoder().encode


class Piece(Protocol):
    """A part of the reply, as it grows."""

    ended: bool

    def grow(self, text: str, logprobs: Raw | None, out: Frames) -> None: ...
    def cite(self, citation: Citation) -> None: ...
    def end(self, out: Frames) -> None: ...


class TextPiece:
    """An ``output_text`` of a message. Citations are written when the text is whole."""

    __slots__ = ("_citations", "_delta", "_losses", "_place", "_plain", "_rows", "_texts", "ended")

    def __init__(self, item: bytes, index: int, losses: Losses) -> None:
        self._place = b'%b,"content_index":%d' % (item, index)
        self._delta = opening("response.output_text.delta", self._place) + b',"delta":'
        # Prepared once for each piece: a delta then costs one small encoding. Without it a stream
        # of 60 events costs 27 % more instructions (benchmarks/short-cuts-responses-ollama.md).
        self._plain = opening("response.output_text.delta", self._place + b',"logprobs":[]')
        self._plain += b',"delta":'
        self._texts: list[str] = []
        self._rows: list[bytes] = []
        self._citations: list[Citation] = []
        self._losses = losses
        self.ended = False

    def begin(self, out: Frames) -> None:
        part = b',"part":%b' % _text_content(b'""', (), b"")
        out.add(opening("response.content_part.added", self._place + part))

    def grow(self, text: str, logprobs: Raw | None, out: Frames) -> None:
        self._texts.append(text)
        if logprobs is None:
            out.add(self._plain, _encode(text))
            return
        rows = b",".join(map(bytes, rows_within(logprobs)))
        if rows:
            self._rows.append(rows)
        out.add(self._delta, _encode(text), b',"logprobs":[%b]' % rows)

    def cite(self, citation: Citation) -> None:
        self._citations.append(citation)

    def end(self, out: Frames) -> None:
        self.ended = True
        annotations = self._annotations()
        # Annotations name spans of the text, so they follow when the text is whole.
        for index, annotation in enumerate(annotations):
            members = b'%b,"annotation_index":%d,"annotation":%b' % (self._place, index, annotation)
            out.add(opening("response.output_text.annotation.added", members))
        text, rows = _encode(self.text()), b",".join(self._rows)
        # https://platform.openai.com/docs/api-reference/responses-streaming/response/output_text/done
        done = b'%b,"text":%b,"logprobs":[%b]' % (self._place, text, rows)
        out.add(opening("response.output_text.done", done))
        part = b',"part":%b' % _text_content(text, annotations, rows)
        out.add(opening("response.content_part.done", self._place + part))

    def text(self) -> str:
        return "".join(self._texts)

    def content(self) -> bytes:
        """The piece in its message, once it has ended."""
        return _text_content(_encode(self.text()), self._annotations(), b",".join(self._rows))

    def _annotations(self) -> list[bytes]:
        length = sum(map(len, self._texts))
        written = [write_annotation(citation, length) for citation in self._citations]
        if None in written:
            self._losses.add("citations")
        return [annotation for annotation in written if annotation is not None]


def _text_content(text: bytes, annotations: Sequence[bytes], rows: bytes) -> bytes:
    return b'{"type":"output_text","annotations":[%b],"logprobs":[%b],"text":%b}' % (
        b",".join(annotations),
        rows,
        text,
    )


class PlainPiece:
    """A refusal in a message, or the words of thinking: text and nothing else."""

    __slots__ = ("_begun", "_delta", "_place", "_texts", "_words", "ended")

    def __init__(self, words: "Words", item: bytes) -> None:
        self._words = words
        self._place = item + words.place
        self._delta = opening(f"{words.name}.delta", self._place) + b',"delta":'
        self._texts: list[str] = []
        self._begun = False
        self.ended = False

    def begin(self, out: Frames) -> None:
        if not self._begun:
            self._begun = True
            part = b',"part":' + self._words.part % b'""'
            out.add(opening(f"{self._words.around}.added", self._place + part))

    def grow(self, text: str, logprobs: Raw | None, out: Frames) -> None:
        self.begin(out)
        self._texts.append(text)
        out.add(self._delta, _encode(text))

    def cite(self, citation: Citation) -> None:
        """Nothing here can be cited."""

    def end(self, out: Frames) -> None:
        self.ended = True
        if not self._begun:
            return
        words, text = self._words, _encode(self.text())
        done = self._place + b',"%b":%b' % (words.member, text)
        out.add(opening(f"{words.name}.done", done))
        part = b',"part":' + words.part % text
        out.add(opening(f"{words.around}.done", self._place + part))

    def text(self) -> str:
        return "".join(self._texts)

    def content(self) -> bytes:
        return self._words.part % _encode(self.text())


class Words(msgspec.Struct, frozen=True):
    """What the dialect calls one kind of plain piece, and where such a piece stands."""

    name: str
    around: str
    member: bytes
    part: bytes
    place: bytes


def refusal(index: int) -> Words:
    return Words(
        "response.refusal",
        "response.content_part",
        b"refusal",
        b'{"type":"refusal","refusal":%b}',
        b',"content_index":%d' % index,
    )


SUMMARY = Words(
    "response.reasoning_summary_text",
    "response.reasoning_summary_part",
    b"text",
    b'{"type":"summary_text","text":%b}',
    b',"summary_index":0',
)
THINKING = Words(
    "response.reasoning_text",
    "response.content_part",
    b"text",
    b'{"type":"reasoning_text","text":%b}',
    b',"content_index":0',
)
