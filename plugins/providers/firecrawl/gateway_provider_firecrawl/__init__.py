"""Firecrawl: pages as a browser shows them.

API reference: https://docs.firecrawl.dev/api-reference/v1-endpoint/scrape
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import JsonService, Question, fetch_model, page_format

SLOW = 30.0
"""Seconds: a browser renders the page."""


def write(question: Question) -> Mapping[str, Any]:
    # There is no plain text; markdown is closest to it.
    wanted = page_format(question, "markdown", "html")
    return {"url": question.members["url"], "formats": [wanted]}


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    if answer.get("success") is False:
        raise UpstreamError(f"Firecrawl could not read this page: {answer.get('error')}")
    page = answer["data"]
    about = page.get("metadata") or {}
    return {
        "text": page.get("html") or page.get("markdown"),
        "url": about.get("sourceURL"),
        "title": about.get("title"),
        "author": about.get("author"),
        "published_at": about.get("publishedTime"),
        "language": about.get("language"),
    }


def scraping(path: str) -> Service:
    return Service(Kind.FETCH, JsonService(path=path, write=write, read=read), timeout=SLOW)


FIRECRAWL = ProviderSpec(
    id="firecrawl",
    name="Firecrawl",
    keys_url="https://www.firecrawl.dev/app/api-keys",
    base_url="https://api.firecrawl.dev",
    auth=Auth(scheme="bearer"),
    environment=("FIRECRAWL_API_KEY",),
    models=(fetch_model(0.002),),
    services=(scraping("/v1/scrape"),),
)
OWN = ProviderSpec(
    id="firecrawl_custom",
    name="Firecrawl, self-hosted",
    base_url="http://127.0.0.1:3002",
    base_url_setting="firecrawlBaseUrl",
    auth=Auth(type="optional", scheme="bearer"),
    environment_data={"FIRECRAWL_BASE_URL": "baseUrl"},
    models=(fetch_model(0.0),),
    services=(scraping("/v2/scrape"),),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FIRECRAWL, OWN]
