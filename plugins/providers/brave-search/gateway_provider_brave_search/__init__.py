"""Brave Search: an index of the web of its own.

API reference: https://api-dashboard.search.brave.com/app/documentation/web-search/query
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import JsonService, Question, present, read_search, search_model

SPANS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
MOST = 20


def path(question: Question) -> str:
    kind = "news" if question.members.get("search_type") == "news" else "web"
    return f"/{kind}/search"


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question,
        usual=5,
        most=MOST,
        carries=("country", "language", "time_range", "offset", "domain_filter"),
    )
    return present(
        q=search.with_sites,
        count=search.limit,
        country=search.country and search.country.upper(),
        search_lang=search.language,
        freshness=SPANS.get(search.span or ""),
        # The vendor counts pages from 0, up to 9.
        offset=min(search.page - 1, 9) if search.offset else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    results = answer.get("web") or answer
    return {"results": list(rows(results.get("results") or ()))}


def rows(results: Any) -> Iterator[dict[str, Any]]:
    for row in results:
        place, picture = row.get("meta_url") or {}, row.get("thumbnail") or {}
        yield {
            "title": row.get("title"),
            "url": row.get("url"),
            "snippet": row.get("description"),
            "published_at": row.get("page_age"),
            "favicon_url": place.get("favicon"),
            "language": row.get("language"),
            "image_url": picture.get("src"),
        }


BRAVE = ProviderSpec(
    id="brave-search",
    name="Brave Search",
    keys_url="https://api-dashboard.search.brave.com/app/keys",
    alias="brave",
    base_url="https://api.search.brave.com/res/v1",
    auth=Auth(header="x-subscription-token", scheme="raw"),
    environment=("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"),
    models=(search_model(0.005),),
    services=(Service(Kind.SEARCH, JsonService(path=path, write=write, read=read, method="GET")),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BRAVE]
