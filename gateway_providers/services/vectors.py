"""Embeddings of a vendor with words of its own: the texts of a question, and the answer that the
completions vendor would give."""

import struct
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway_core import BadRequest

from .translated import Question

RETRIEVAL = ("search_document", "search_query")
"""What most vendors tell apart; ``input_type`` of a client's question."""


def texts_of(question: Question) -> list[str]:
    """The texts to embed. Raises BadRequest for tokens, which are of another vendor's."""
    wanted = question.members["input"]
    texts = wanted if isinstance(wanted, list) else [wanted]
    if not all(isinstance(text, str) for text in texts):
        raise BadRequest("This model embeds texts only", param="input")
    return texts


def dimensions_of(question: Question) -> int | None:
    """How long the client wants a vector to be."""
    dimensions = question.members.get("dimensions")
    return dimensions if isinstance(dimensions, int) and not isinstance(dimensions, bool) else None


def write_vectors(
    question: Question, vectors: Iterable[Sequence[float]], tokens: int = 0
) -> Mapping[str, Any]:
    """The client's answer: numbers, or the little-endian floats in base64 that it asked for."""
    is_packed = question.members.get("encoding_format") == "base64"
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": pack(row) if is_packed else row}
            for place, row in enumerate(vectors)
        ],
        "model": question.target.model.id,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def pack(vector: Sequence[float]) -> str:
    """A vector as the completions vendor writes it for ``encoding_format: base64``."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
