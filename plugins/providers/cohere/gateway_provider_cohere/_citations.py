"""Cohere's citations as ours: one for each source that a span names."""

import re
from typing import Any

from gateway_core import Citation

from ._shapes import CitationRow, Source

DOCUMENT_ID = "doc:{}"
_DOCUMENT_ID = re.compile(r"doc:(\d{1,6})")
_WORDS = ("text", "snippet", "content")
"""Where a document or a tool's output keeps its words, by Cohere's own examples."""
# The types of citations: https://docs.cohere.com/reference/chat
_ELSEWHERE = ("PLAN", "THINKING_CONTENT")


def is_of_text(row: CitationRow) -> bool:
    """Whether a citation is of the answer, and not of the thinking before it."""
    return row.type not in _ELSEWHERE


def citations_of(row: CitationRow) -> list[Citation]:
    citations: list[Citation] = []
    # A citation without sources still marks a span of the text.
    for source in row.sources or [Source()]:
        content = source.document if source.document is not None else source.tool_output
        members = content if isinstance(content, dict) else {}
        number = _DOCUMENT_ID.fullmatch(source.id or "")
        citation = Citation(
            url=_text(members, "url"),
            title=_text(members, "title"),
            quote=next((text for name in _WORDS if (text := _text(members, name))), None),
            start=row.start,
            end=row.end,
            document=int(number[1]) if number else None,
        )
        citations.append(citation)
    return citations


def _text(members: dict[str, Any], name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) else None
