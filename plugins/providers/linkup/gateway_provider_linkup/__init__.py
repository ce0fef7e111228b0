"""Linkup: web search for agents.

API reference: https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    option_of,
    present,
    read_search,
    rows_of,
    search_model,
)

DEPTHS = ("fast", "standard", "deep")


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question, usual=5, most=50, carries=("time_range", "domain_filter", "provider_options")
    )
    depth = option_of(question, "depth")
    if search.is_news:
        question.losses.add("search_type")
    return present(
        q=search.query,
        depth=depth if depth in DEPTHS else "standard",
        outputType="searchResults",
        maxResults=search.limit,
        includeDomains=list(search.include),
        excludeDomains=list(search.exclude),
        fromDate=search.since(),
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    names = {"title": "name", "url": "url", "snippet": "content", "source_type": "type"}
    return {"results": rows_of(answer.get("results"), **names)}


LINKUP = ProviderSpec(
    id="linkup",
    name="Linkup",
    keys_url="https://app.linkup.so",
    aliases=("linkup-search",),
    base_url="https://api.linkup.so/v1",
    auth=Auth(scheme="bearer"),
    environment=("LINKUP_API_KEY",),
    models=(search_model(0.005),),
    services=(Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read)),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LINKUP]
