"""Serper: results of Google's web and news search.

API reference: https://serper.dev/playground
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    present,
    read_search,
    rows_of,
    search_model,
)

SPANS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def path(question: Question) -> str:
    return "/news" if question.members.get("search_type") == "news" else "/search"


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question,
        usual=5,
        most=100,
        carries=("country", "language", "time_range", "offset", "domain_filter"),
    )
    return present(
        q=search.with_sites,
        num=search.limit,
        gl=search.country and search.country.lower(),
        hl=search.language,
        tbs=SPANS.get(search.span or ""),
        page=search.page if search.offset else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    results = answer.get("news" if path(question) == "/news" else "organic")
    names = {"title": "title", "url": "link", "snippet": "snippet", "published_at": "date"}
    return {"results": rows_of(results, **names, image_url="imageUrl")}


SERPER = ProviderSpec(
    id="serper",
    name="Serper",
    keys_url="https://serper.dev/api-keys",
    aliases=("serper-search",),
    base_url="https://google.serper.dev",
    auth=Auth(header="x-api-key", scheme="raw"),
    environment=("SERPER_API_KEY",),
    models=(search_model(0.001),),
    services=(Service(Kind.SEARCH, JsonService(path=path, write=write, read=read)),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SERPER]
