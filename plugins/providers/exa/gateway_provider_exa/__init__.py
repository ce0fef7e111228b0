"""Exa: search by meaning, and the contents of pages.

API reference: https://docs.exa.ai/reference/search and https://docs.exa.ai/reference/get-contents
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    fetch_model,
    page_format,
    present,
    read_search,
    search_model,
)


def write_search(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question, usual=5, most=100, carries=("country", "time_range", "domain_filter")
    )
    since = search.since()
    return present(
        query=search.query,
        numResults=search.limit,
        type="auto",
        category="news" if search.is_news else None,
        includeDomains=list(search.include),
        excludeDomains=list(search.exclude),
        userLocation=search.country and search.country.upper(),
        startPublishedDate=since and f"{since}T00:00:00.000Z",
        contents={"text": True, "highlights": True},
    )


def read_results(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"results": list(rows(answer.get("results") or ()))}


def rows(results: Any) -> Iterator[dict[str, Any]]:
    for row in results:
        highlights = row.get("highlights") or [None]
        yield {
            "title": row.get("title"),
            "url": row.get("url"),
            "snippet": highlights[0],
            "text": row.get("text"),
            "score": row.get("score"),
            "published_at": row.get("publishedDate"),
            "favicon_url": row.get("favicon"),
            "author": row.get("author"),
            "image_url": row.get("image"),
        }


def write_fetch(question: Question) -> Mapping[str, Any]:
    page_format(question, "markdown", "text")
    return {"ids": [question.members["url"]], "text": True}


def read_page(question: Question, answer: Any) -> Mapping[str, Any]:
    pages = answer.get("results")
    if not pages:
        raise UpstreamError("Exa has no content of this page")
    page = pages[0]
    return {
        "text": page.get("text"),
        "url": page.get("url"),
        "title": page.get("title"),
        "author": page.get("author"),
        "published_at": page.get("publishedDate"),
    }


EXA = ProviderSpec(
    id="exa",
    name="Exa",
    keys_url="https://dashboard.exa.ai/api-keys",
    aliases=("exa-search",),
    base_url="https://api.exa.ai",
    auth=Auth(header="x-api-key", scheme="raw"),
    environment=("EXA_API_KEY",),
    models=(search_model(0.007), fetch_model(0.001)),
    services=(
        Service(Kind.SEARCH, JsonService(path="/search", write=write_search, read=read_results)),
        Service(Kind.FETCH, JsonService(path="/contents", write=write_fetch, read=read_page)),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [EXA]
