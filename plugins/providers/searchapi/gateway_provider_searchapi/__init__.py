"""SearchApi: results of Google's web and news search.

API reference: https://www.searchapi.io/docs/google and https://www.searchapi.io/docs/google-news
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

SPANS = {"day": "last_day", "week": "last_week", "month": "last_month", "year": "last_year"}


def write(question: Question) -> Mapping[str, Any]:
    search = read_search(
        question,
        usual=5,
        most=100,
        carries=("country", "language", "time_range", "offset", "domain_filter"),
    )
    return present(
        engine="google_news" if search.is_news else "google",
        api_key=question.credential.secret,
        q=search.with_sites,
        num=search.limit,
        gl=search.country and search.country.lower(),
        hl=search.language,
        time_period=SPANS.get(search.span or ""),
        page=search.page if search.offset else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    about = answer.get("search_information") or {}
    rows = rows_of(
        answer.get("organic_results") or answer.get("top_stories"),
        title="title",
        url="link",
        snippet="snippet",
        published_at="date",
        author="source",
        favicon_url="favicon",
        image_url="thumbnail",
    )
    most = question.members.get("max_results")
    return {
        "results": rows[:most] if isinstance(most, int) and most > 0 else rows,
        "total": about.get("total_results"),
    }


SEARCHAPI = ProviderSpec(
    id="searchapi",
    name="SearchApi",
    keys_url="https://www.searchapi.io",
    aliases=("searchapi-search",),
    base_url="https://www.searchapi.io/api/v1",
    auth=Auth(type="apikey", scheme="query"),
    environment=("SEARCHAPI_API_KEY",),
    models=(search_model(0.004),),
    services=(
        Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read, method="GET")),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SEARCHAPI]
