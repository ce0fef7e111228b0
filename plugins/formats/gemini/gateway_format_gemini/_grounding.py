"""Sources: the vendor's grounding and recitation records, and the hub's citations.

The vendor counts places in bytes of UTF-8, the hub in characters.
https://ai.google.dev/api/generate-content#GroundingMetadata
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Citation


class Source(Struct, rename="camel"):
    uri: str | None = None
    title: str | None = None
    text: str | None = None
    source_uri: str | None = None


class GroundingChunk(Struct, rename="camel"):
    web: Source | None = None
    retrieved_context: Source | None = None
    maps: Source | None = None
    image: Source | None = None


class Segment(Struct, rename="camel"):
    start_index: int = 0
    end_index: int | None = None
    text: str | None = None


class GroundingSupport(Struct, rename="camel"):
    segment: Segment | None = None
    grounding_chunk_indices: list[int] | None = None


class GroundingMetadata(Struct, rename="camel"):
    grounding_chunks: list[GroundingChunk] | None = None
    grounding_supports: list[GroundingSupport] | None = None


class CitationSource(Struct, rename="camel"):
    start_index: int = 0
    end_index: int | None = None
    uri: str | None = None
    title: str | None = None


class CitationMetadata(Struct, rename="camel"):
    citations: list[CitationSource] | None = None
    citation_sources: list[CitationSource] | None = None


_decode_grounding = msgspec.json.Decoder(GroundingMetadata).decode
_decode_recitation = msgspec.json.Decoder(CitationMetadata).decode
_encode = msgspec.json.encode

Placed = tuple[int, Citation]
"""A citation and the number of the text it belongs to, among the answer's texts."""


def read_grounding(grounding: Raw, texts: Sequence[str]) -> list[Placed]:
    """One citation for each source of each supported passage; sources alone stand for all."""
    metadata = _decode_grounding(grounding)
    chunks = metadata.grounding_chunks or []
    placed: list[Placed] = []
    for support in metadata.grounding_supports or []:
        number, start, end = _locate(support.segment or Segment(), texts)
        placed += [
            (number, _read_citation(chunks[index], start, end))
            for index in support.grounding_chunk_indices or []
            if 0 <= index < len(chunks)
        ]
    if not metadata.grounding_supports:
        placed = [(len(texts) - 1, _read_citation(chunk, None, None)) for chunk in chunks]
    return placed


def read_recitation(raw: Raw, texts: Sequence[str]) -> list[Placed]:
    """The public sources that an answer repeats word for word."""
    metadata = _decode_recitation(raw)
    placed: list[Placed] = []
    for each in metadata.citations or metadata.citation_sources or []:
        number, start, end = _locate(Segment(each.start_index, each.end_index), texts)
        placed.append((number, Citation(url=each.uri, title=each.title, start=start, end=end)))
    return placed


def write_grounding(texts: Sequence[str], citations: Sequence[Placed]) -> bytes:
    """``groundingMetadata`` for citations of any vendor; places count through all the texts."""
    chunks: dict[bytes, int] = {}
    supports: dict[tuple[int, int], list[int]] = {}
    whole = "".join(texts)
    for number, citation in citations:
        members = {"uri": citation.url, "title": citation.title, "text": citation.quote}
        known = {name: value for name, value in members.items() if value is not None}
        # Only a retrieved context has room for the text of the source.
        is_web = citation.url is not None and citation.quote is None
        source = _encode({"web" if is_web else "retrievedContext": known})
        index = chunks.setdefault(source, len(chunks))
        # Without a span a citation is of the whole text.
        base, length = sum(len(text) for text in texts[:number]), len(texts[number])
        start = min(citation.start or 0, length)
        end = length if citation.end is None else max(start, min(citation.end, length))
        indices = supports.setdefault((base + start, base + end), [])
        if index not in indices:
            indices.append(index)
    written: dict[str, Any] = {"groundingChunks": [Raw(source) for source in chunks]}
    written["groundingSupports"] = [
        {
            "segment": {
                "startIndex": len(whole[:start].encode()),
                "endIndex": len(whole[:end].encode()),
                "text": whole[start:end],
            },
            "groundingChunkIndices": indices,
        }
        for (start, end), indices in supports.items()
    ]
    return _encode(written)


def _locate(segment: Segment, texts: Sequence[str]) -> tuple[int, int | None, int | None]:
    """The number of the text that a segment lies in and its span there, in characters."""
    # The vendor counts from the beginning of one part or of the whole answer, so its own copy of
    # the words decides.
    base, end = 0, segment.end_index
    for number, text in enumerate(texts):
        encoded = text.encode()
        for first in (segment.start_index, segment.start_index - base):
            last = -1 if end is None else end - segment.start_index + first
            if not 0 <= first <= last <= len(encoded):
                continue
            try:
                start = len(encoded[:first].decode())
                stop = start + len(encoded[first:last].decode())
            except UnicodeDecodeError:
                continue
            if segment.text in (None, text[start:stop]):
                return number, start, stop
        base += len(encoded)
    for number, text in enumerate(texts):
        at = text.find(segment.text) if segment.text else -1
        if at >= 0:
            return number, at, at + len(segment.text or "")
    return len(texts) - 1, None, None


def _read_citation(chunk: GroundingChunk, start: int | None, end: int | None) -> Citation:
    source = chunk.web or chunk.retrieved_context or chunk.maps or chunk.image or Source()
    return Citation(
        url=source.uri or source.source_uri,
        title=source.title,
        quote=source.text,
        start=start,
        end=end,
    )
