"""Google Programmable Search: an engine that its owner has set up, over the web or some sites.

API reference: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list

The engine's id, ``cx``, is an account's or comes with a call's ``provider_options``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import AccountField, Auth, BadRequest, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import (
    JsonService,
    Question,
    option_of,
    present,
    read_search,
    search_model,
)

SPANS = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}
LAST_START = 91
"""The vendor gives the first hundred results, ten at once."""


def write(question: Question) -> Mapping[str, Any]:
    engine = option_of(question, "cx")
    if not isinstance(engine, str) or not engine:
        raise BadRequest(
            "Google Programmable Search needs the engine's id: set cx of the connection",
            param="provider_options.cx",
        )
    search = read_search(
        question,
        usual=5,
        most=10,
        carries=(
            *("country", "language", "time_range", "offset", "domain_filter", "provider_options"),
        ),
    )
    if search.is_news:
        question.losses.add("search_type")
    return present(
        key=question.credential.secret,
        cx=engine,
        q=search.with_sites,
        num=search.limit,
        gl=search.country and search.country.lower(),
        hl=search.language,
        dateRestrict=SPANS.get(search.span or ""),
        start=min(search.offset + 1, LAST_START) if search.offset else None,
    )


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    about = answer.get("searchInformation") or {}
    total = about.get("totalResults")
    return {
        "results": list(rows(answer.get("items") or ())),
        "total": int(total) if isinstance(total, str) and total.isdecimal() else None,
    }


def rows(results: Any) -> Iterator[dict[str, Any]]:
    for row in results:
        pictures = (row.get("pagemap") or {}).get("cse_image") or [{}]
        yield {
            "title": row.get("title"),
            "url": row.get("link"),
            "snippet": row.get("snippet"),
            "image_url": pictures[0].get("src"),
        }


GOOGLE_PSE = ProviderSpec(
    id="google-pse",
    name="Google Programmable Search",
    keys_url="https://console.cloud.google.com/apis/credentials",
    alias="gpse",
    aliases=("google-pse-search",),
    base_url="https://www.googleapis.com/customsearch/v1",
    auth=Auth(type="apikey", scheme="query"),
    account_fields=(
        AccountField(
            name="cx",
            title="Search engine ID",
            about="Of the engine that calls search which name none themselves.",
        ),
    ),
    environment=("GOOGLE_PSE_API_KEY",),
    environment_data={"GOOGLE_PSE_CX": "cx"},
    models=(search_model(0.005),),
    services=(Service(Kind.SEARCH, JsonService(path="", write=write, read=read, method="GET")),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GOOGLE_PSE]
