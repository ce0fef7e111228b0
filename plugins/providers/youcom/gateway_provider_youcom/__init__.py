"""You.com: web and news search, with the pages' contents.

API reference: https://documentation.you.com/api-reference/search
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import JsonService, Question, present, read_search, search_model

LAST_OFFSET = 9
"""The vendor counts pages from 0."""


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question,
        usual=5,
        most=100,
        carries=("country", "language", "time_range", "offset", "domain_filter"),
    )
    return present(
        query=search.query,
        count=search.limit,
        freshness=search.span,
        offset=min(search.page - 1, LAST_OFFSET) if search.offset else None,
        country=search.country and search.country.upper(),
        language=search.language,
        include_domains=",".join(search.include),
        exclude_domains=",".join(search.exclude),
        livecrawl=("news" if search.is_news else "web") if search.wants_text else None,
        livecrawl_formats="markdown" if search.wants_text else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    kind = "news" if question.members.get("search_type") == "news" else "web"
    return {"results": list(rows(answer["results"].get(kind) or ()))}


def rows(results: Any) -> Iterator[dict[str, Any]]:
    for row in results:
        snippets = row.get("snippets") or [None]
        contents = row.get("contents") or row
        yield {
            "title": row.get("title"),
            "url": row.get("url"),
            "snippet": snippets[0] or row.get("description"),
            "published_at": row.get("page_age"),
            "favicon_url": row.get("favicon_url"),
            "text": contents.get("markdown") or contents.get("html"),
            "image_url": row.get("thumbnail_url"),
        }


YOUCOM = ProviderSpec(
    id="youcom",
    name="You.com",
    keys_url="https://you.com/platform",
    aliases=("youcom-search",),
    base_url="https://ydc-index.io/v1",
    auth=Auth(header="x-api-key", scheme="raw"),
    environment=("YDC_API_KEY",),
    models=(search_model(0.005),),
    services=(
        Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read, method="GET")),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [YOUCOM]
