"""Tavily: web search for agents, and the contents of pages.

API reference: https://docs.tavily.com/documentation/api-reference/endpoint/search and
https://docs.tavily.com/documentation/api-reference/endpoint/extract
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    fetch_model,
    page_format,
    present,
    read_search,
    rows_of,
    search_model,
)

from .countries import country_of


def write_search(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question, usual=5, most=20, carries=("country", "time_range", "domain_filter")
    )
    # The vendor boosts a country among general results only.
    country = None if search.is_news or not search.country else country_of(search.country)
    if search.country and country is None:
        question.losses.add("country")
    return present(
        query=search.query,
        max_results=search.limit,
        topic="news" if search.is_news else "general",
        include_domains=list(search.include),
        exclude_domains=list(search.exclude),
        country=country,
        time_range=search.span,
        include_raw_content=search.wants_text or None,
    )


def read_results(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = rows_of(
        answer.get("results"),
        title="title",
        url="url",
        snippet="content",
        score="score",
        published_at="published_date",
        text="raw_content",
        favicon_url="favicon",
    )
    return {"results": rows, "answer": answer.get("answer")}


def write_fetch(question: Question) -> Mapping[str, Any]:
    return {
        "urls": [question.members["url"]],
        "extract_depth": "basic",
        "format": page_format(question, "markdown", "text"),
    }


def read_page(question: Question, answer: Any) -> Mapping[str, Any]:
    pages = answer.get("results")
    if not pages:
        failed = answer.get("failed_results") or [{}]
        raise UpstreamError(f"Tavily could not read this page: {failed[0].get('error') or 'empty'}")
    return {"text": pages[0].get("raw_content"), "url": pages[0].get("url")}


TAVILY = ProviderSpec(
    id="tavily",
    name="Tavily",
    keys_url="https://app.tavily.com",
    aliases=("tavily-search",),
    base_url="https://api.tavily.com",
    auth=Auth(scheme="bearer"),
    environment=("TAVILY_API_KEY",),
    models=(search_model(0.008), fetch_model(0.008)),
    services=(
        Service(Kind.SEARCH, JsonService(path="/search", write=write_search, read=read_results)),
        Service(Kind.FETCH, JsonService(path="/extract", write=write_fetch, read=read_page)),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TAVILY]
