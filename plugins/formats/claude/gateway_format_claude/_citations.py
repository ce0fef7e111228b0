"""Sources that the model names for a piece of its text, both ways.

The vendor's spans count in the source and the hub's in the answer, so spans are not translated;
the vendor's own object travels along for clients of this dialect.
https://docs.anthropic.com/en/docs/build-with-claude/citations
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Citation, Losses

from ._dialect import DIALECT, encode_raw


class _Citation(Struct):
    type: str = ""
    cited_text: str | None = None
    url: str | None = None
    source: str | None = None
    title: str | None = None
    document_title: str | None = None
    document_index: int | None = None
    encrypted_index: str | None = None


_decode = msgspec.json.Decoder(_Citation).decode


def read_citation(raw: Raw) -> Citation:
    """Raises MsgspecError for an invalid one."""
    citation = _decode(raw)
    # An empty index is what this gateway writes for another vendor's source.
    is_foreign = citation.type == "web_search_result_location" and not citation.encrypted_index
    return Citation(
        url=citation.url or citation.source,
        title=citation.title or citation.document_title,
        quote=citation.cited_text or None,
        document=citation.document_index,
        raw=None if is_foreign else raw,
        dialect="" if is_foreign else DIALECT,
    )


def write_citation_for_client(citation: Citation, losses: Losses) -> Raw | None:
    """Another vendor's citation becomes a web source if it has an address."""
    if citation.raw is not None and citation.dialect == DIALECT:
        return citation.raw
    if citation.url is None:
        losses.add("citations")
        return None
    return encode_raw(
        {
            "type": "web_search_result_location",
            "cited_text": citation.quote or "",
            "encrypted_index": "",
            "title": citation.title,
            "url": citation.url,
        }
    )


def write_citations_for_vendor(citations: tuple[Citation, ...], losses: Losses) -> list[Raw]:
    """The citations of earlier text; the vendor takes back only its own."""
    own = [c.raw for c in citations if c.raw is not None and c.dialect == DIALECT]
    if len(own) < len(citations):
        losses.add("citations")
    return own
