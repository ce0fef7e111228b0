"""Annotations of a text, which the hub calls citations."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway_core import Citation

from ._dialect import BROKEN, DIALECT, is_own


class _Annotation(Struct):
    type: str = ""
    url: str | None = None
    title: str | None = None
    filename: str | None = None
    start_index: int | None = None
    end_index: int | None = None


_annotation = msgspec.json.Decoder(_Annotation)
_encode = msgspec.json.Encoder().encode


def read_citation(raw: Raw) -> Citation:
    """Any annotation; one that is not understood is still kept as it is."""
    raw = raw.copy()
    try:
        annotation = _annotation.decode(raw)
    except BROKEN:
        annotation = _Annotation()
    return Citation(
        url=annotation.url,
        title=annotation.title or annotation.filename,
        start=annotation.start_index,
        end=annotation.end_index,
        raw=raw,
        dialect=DIALECT,
    )


def write_annotation(citation: Citation, length: int) -> bytes | None:
    """The annotation as JSON, or ``None`` for a source that has no address.

    A citation that names no span is taken to be about the whole text, which
    has ``length`` characters.
    """
    if is_own(citation):
        return bytes(citation.raw or b"")
    # url_citation requires an address and a span: https://platform.openai.com/docs/api-reference/responses/object#responses-object-output
    if citation.url is None:
        return None
    end = length if citation.end is None else citation.end
    members: dict[str, Any] = {
        "type": "url_citation",
        "start_index": citation.start or 0,
        "end_index": end,
        "url": citation.url,
        "title": citation.title or "",
    }
    return _encode(members)
