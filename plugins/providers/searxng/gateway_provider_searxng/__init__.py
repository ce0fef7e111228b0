"""SearXNG: a search engine on the operator's own machine that asks others.

API reference: https://docs.searxng.org/dev/search_api.html

``SEARXNG_URL`` or the account's ``baseUrl`` names another server; its settings have to allow the
format ``json``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import JsonService, Question, present, read_search, search_model

MOST = 50
USUAL = 5


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question,
        usual=USUAL,
        most=MOST,
        carries=("language", "time_range", "offset", "domain_filter"),
    )
    return present(
        q=search.with_sites,
        format="json",
        categories="news" if search.is_news else "general",
        language=search.language,
        time_range=search.span,
        pageno=search.page if search.offset else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    # The server gives a whole page, whatever number is wanted.
    limit = question.members.get("max_results")
    most = min(limit, MOST) if isinstance(limit, int) and limit > 0 else USUAL
    results = list(rows(answer.get("results") or ()))
    return {"results": results[:most], "total": answer.get("number_of_results") or None}


def rows(results: Any) -> Iterator[dict[str, Any]]:
    for row in results:
        yield {
            "title": row.get("title"),
            "url": row.get("url"),
            "snippet": row.get("content"),
            "published_at": row.get("publishedDate"),
            "source_type": ", ".join(row.get("engines") or ()) or None,
            "image_url": row.get("thumbnail") or None,
        }


SEARXNG = ProviderSpec(
    id="searxng",
    name="SearXNG",
    aliases=("searxng-search",),
    base_url="http://localhost:8888",
    auth=Auth(type="none"),
    environment_data={"SEARXNG_URL": "baseUrl"},
    models=(search_model(0.0),),
    services=(
        Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read, method="GET")),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SEARXNG]
