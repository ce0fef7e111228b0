"""Embeddings of the account's server, web search and web fetch of the hosted service.

API reference: https://docs.ollama.com/api/embed and https://docs.ollama.com/capabilities/web-search
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Kind, Service, UpstreamError, Usage
from gateway_providers.services import (
    JsonService,
    Question,
    count_of,
    dimensions_of,
    page_format,
    present,
    read_search,
    rows_of,
    write_vectors,
)
from gateway_providers.services import texts_of as texts_asked

WEB = "https://ollama.com/api"


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but(
        "input", "dimensions", "encoding_format", "truncate", "keep_alive", "options"
    )
    own = {
        n: question.members[n]
        for n in ("truncate", "keep_alive", "options")
        if n in question.members
    }
    return {
        "model": question.target.model.id,
        "input": texts_asked(question),
        **present(dimensions=dimensions_of(question)),
        **own,
    }


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    return write_vectors(question, answer["embeddings"], count_of(answer, "prompt_eval_count"))


def embedding_usage(question: Question, answer: Any) -> Usage:
    return Usage(input_tokens=count_of(answer, "prompt_eval_count"))


def write_search(question: Question) -> Mapping[str, Any]:
    search = read_search(question, usual=5, most=10, carries=("domain_filter",))
    if search.is_news:
        question.losses.add("search_type")
    return {"query": search.with_sites, "max_results": search.limit}


def read_results(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"results": rows_of(answer["results"], title="title", url="url", snippet="content")}


def write_fetch(question: Question) -> Mapping[str, Any]:
    page_format(question, "markdown", "text")
    return {"url": question.members["url"]}


def read_page(question: Question, answer: Any) -> Mapping[str, Any]:
    if not answer.get("content"):
        raise UpstreamError("Ollama has no content of this page")
    return {"text": answer["content"], "title": answer.get("title"), "links": answer.get("links")}


SERVICES = (
    Service(
        Kind.EMBEDDING,
        JsonService(
            path="/api/embed", write=write_embedding, read=read_embedding, usage=embedding_usage
        ),
    ),
    Service(
        Kind.SEARCH,
        JsonService(path="/web_search", base_url=WEB, write=write_search, read=read_results),
    ),
    Service(
        Kind.FETCH,
        JsonService(path="/web_fetch", base_url=WEB, write=write_fetch, read=read_page),
    ),
)
