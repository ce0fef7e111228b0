"""Search, and embeddings in bytes.

API reference: https://docs.perplexity.ai/api-reference/search-post and
https://docs.perplexity.ai/api-reference/embeddings-post
"""

import struct
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Service
from gateway_providers.services import (
    JsonService,
    Question,
    count_of,
    dimensions_of,
    present,
    read_search,
    rows_of,
    texts_of,
    write_vectors,
)

MOST_INPUTS = 512


def write_search(question: Question) -> Mapping[str, Any]:
    carries = ("country", "language", "time_range", "domain_filter")
    search = read_search(question, usual=5, most=20, carries=carries)
    # A list names either the domains that are wanted or those that are not.
    domains = search.include or tuple(f"-{domain}" for domain in search.exclude)
    if search.include and search.exclude:
        question.losses.add("domain_filter")
    return present(
        query=f"{search.query} news" if search.is_news else search.query,
        max_results=search.limit,
        country=search.country and search.country.upper(),
        search_language_filter=[search.language] if search.language else None,
        search_domain_filter=list(domains),
        search_recency_filter=search.span,
    )


def read_results(question: Question, answer: Any) -> Mapping[str, Any]:
    return {
        "results": rows_of(
            answer["results"], title="title", url="url", snippet="snippet", published_at="date"
        )
    }


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "dimensions", "encoding_format")
    texts = texts_of(question)
    sent = texts if isinstance(question.members["input"], list) else texts[0]
    return {
        "model": question.target.model.id,
        "input": sent,
        **present(dimensions=dimensions_of(question)),
    }


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    """The vendor's vectors are signed bytes in base64; clients expect numbers."""
    rows = sorted(answer["data"], key=lambda row: row["index"])
    packed = [b64decode(row["embedding"]) for row in rows]
    vectors = [[float(each) for each in struct.unpack(f"{len(row)}b", row)] for row in packed]
    return write_vectors(question, vectors, count_of(answer.get("usage"), "prompt_tokens"))


SERVICES = (
    Service(Kind.SEARCH, JsonService(path="/search", write=write_search, read=read_results)),
    Service(
        Kind.EMBEDDING,
        JsonService(
            path="/v1/embeddings",
            write=write_embedding,
            read=read_embedding,
            batch_limit=MOST_INPUTS,
        ),
    ),
)
