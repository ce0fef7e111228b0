"""Sources: the vendor's grounding and recitation records, and the hub's citations.

The vendor counts places in bytes of UTF-8, the hub in characters.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Citation


class _Source(Struct, rename="camel"):
    uri: str | None = None
    title: str | None = None
    text: str | None = None
    source_uri: str | None = None


class _Chunk(Struct, rename="camel"):
    web: _Source | None = None
    retrieved_context: _Source | None = None
    maps: _Source | None = None
    image: _Source | None = None


class _Segment(Struct, rename="camel"):
    start_index: int = 0
    end_index: int | None = None
    text: str | None = None


class _Support(Struct, rename="camel"):
    segment: _Segment | None = None
    grounding_chunk_indices: list[int] | None = None


class _Grounding(Struct, rename="camel"):
    grounding_chunks: list[_Chunk] | None = None
    grounding_supports: list[_Support] | None = None


class _Recited(Struct, rename="camel"):
    start_index: int = 0
    end_index: int | None = None
    uri: str | None = None
    title: str | None = None


class _Recitation(Struct, rename="camel"):
    citations: list[_Recited] | None = None
    citation_sources: list[_Recited] | None = None


_read_grounding = msgspec.json.Decoder(_Grounding).decode
_read_recitation = msgspec.json.Decoder(_Recitation).decode
_encode = msgspec.json.encode

Placed = tuple[int, Citation]
"""A citation and the number of the text it belongs to, among the answer's texts."""


def citations_of(grounding: Raw, texts: Sequence[str]) -> list[Placed]:
    """One citation for each source of each supported passage; sources alone stand for all."""
    said = _read_grounding(grounding)
    chunks = said.grounding_chunks or []
    found: list[Placed] = []
    for support in said.grounding_supports or []:
        number, start, end = _place(support.segment or _Segment(), texts)
        found += [
            (number, _citation(chunks[index], start, end))
            for index in support.grounding_chunk_indices or []
            if 0 <= index < len(chunks)
        ]
    if not said.grounding_supports:
        found = [(len(texts) - 1, _citation(chunk, None, None)) for chunk in chunks]
    return found


def recitations_of(metadata: Raw, texts: Sequence[str]) -> list[Placed]:
    """The public sources that an answer repeats word for word."""
    said = _read_recitation(metadata)
    found: list[Placed] = []
    for each in said.citations or said.citation_sources or []:
        number, start, end = _place(_Segment(each.start_index, each.end_index), texts)
        found.append((number, Citation(url=each.uri, title=each.title, start=start, end=end)))
    return found


def grounding_json(texts: Sequence[str], citations: Sequence[Placed]) -> bytes:
    """``groundingMetadata`` for citations of any vendor; places count through all the texts."""
    chunks: dict[bytes, int] = {}
    supports: dict[tuple[int, int], list[int]] = {}
    whole = "".join(texts)
    for number, citation in citations:
        source = _encode(_chunk(citation))
        index = chunks.setdefault(source, len(chunks))
        held = supports.setdefault(_span(texts, number, citation), [])
        if index not in held:
            held.append(index)
    made: dict[str, Any] = {"groundingChunks": [Raw(source) for source in chunks]}
    made["groundingSupports"] = [
        {
            "segment": {
                "startIndex": len(whole[:start].encode()),
                "endIndex": len(whole[:end].encode()),
                "text": whole[start:end],
            },
            "groundingChunkIndices": held,
        }
        for (start, end), held in supports.items()
    ]
    return _encode(made)


def _place(segment: _Segment, texts: Sequence[str]) -> tuple[int, int | None, int | None]:
    """The text a segment lies in and its span there, in characters.

    The vendor counts from the beginning of one part or of the whole answer,
    so its own copy of the words decides.
    """
    base, end = 0, segment.end_index
    for number, text in enumerate(texts):
        for start in (segment.start_index, segment.start_index - base):
            if end is not None and start >= 0:
                stop = end - segment.start_index + start
                span = _characters(text.encode(), start, stop)
                if span is not None and segment.text in (None, text[span[0] : span[1]]):
                    return number, *span
        base += len(text.encode())
    for number, text in enumerate(texts):
        at = text.find(segment.text) if segment.text else -1
        if at >= 0:
            return number, at, at + len(segment.text or "")
    return len(texts) - 1, None, None


def _characters(text: bytes, start: int, end: int) -> tuple[int, int] | None:
    if not 0 <= start <= end <= len(text):
        return None
    try:
        before = len(text[:start].decode())
        return before, before + len(text[start:end].decode())
    except UnicodeDecodeError:
        return None


def _citation(chunk: _Chunk, start: int | None, end: int | None) -> Citation:
    source = chunk.web or chunk.retrieved_context or chunk.maps or chunk.image or _Source()
    return Citation(
        url=source.uri or source.source_uri,
        title=source.title,
        quote=source.text,
        start=start,
        end=end,
    )


def _chunk(citation: Citation) -> dict[str, Any]:
    if citation.url is not None and citation.quote is None:
        title = {} if citation.title is None else {"title": citation.title}
        return {"web": {"uri": citation.url, **title}}
    said = {"uri": citation.url, "title": citation.title, "text": citation.quote}
    return {"retrievedContext": {name: each for name, each in said.items() if each is not None}}


def _span(texts: Sequence[str], number: int, citation: Citation) -> tuple[int, int]:
    """Characters from the beginning of all the texts; the whole text when none are told."""
    base = sum(len(text) for text in texts[:number])
    length = len(texts[number])
    start = min(citation.start or 0, length)
    end = length if citation.end is None else max(start, min(citation.end, length))
    return base + start, base + end
