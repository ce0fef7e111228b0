"""Sources the model names for a piece of its text, both ways.

The vendor's spans are of the source, the hub's are of the answer, so spans do
not cross; the vendor's own object travels along for clients of this dialect.
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Citation, Losses

from ._dialect import DIALECT, raw


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


def read_citation(of: Raw) -> Citation:
    """Raises MsgspecError for rubbish."""
    said = _decode(of)
    # An empty index is what this gateway writes for another vendor's source.
    borrowed = said.type == "web_search_result_location" and not said.encrypted_index
    return Citation(
        url=said.url or said.source,
        title=said.title or said.document_title,
        quote=said.cited_text or None,
        document=said.document_index,
        raw=None if borrowed else of,
        dialect="" if borrowed else DIALECT,
    )


def shown_citation(citation: Citation, losses: Losses) -> Raw | None:
    """A citation for a client; another vendor's becomes a web source if it has an address."""
    if citation.raw is not None and citation.dialect == DIALECT:
        return citation.raw
    if citation.url is None:
        losses.add("citations")
        return None
    return raw(
        {
            "type": "web_search_result_location",
            "cited_text": citation.quote or "",
            "encrypted_index": "",
            "title": citation.title,
            "url": citation.url,
        }
    )


def sent_citations(citations: tuple[Citation, ...], losses: Losses) -> list[Raw]:
    """The citations of earlier text for the vendor, who takes back only its own."""
    own = [c.raw for c in citations if c.raw is not None and c.dialect == DIALECT]
    if len(own) < len(citations):
        losses.add("citations")
    return own
