"""TinyFish: the contents of pages.

API reference: https://docs.tinyfish.ai
"""

from collections.abc import Mapping
from typing import Any

from gateway_core import Auth, Kind, ProviderSpec, Service, UpstreamError, hookimpl
from gateway_providers.services import JsonService, Question, fetch_model, page_format


def write(question: Question) -> Mapping[str, Any]:
    return {
        "urls": [question.members["url"]],
        "format": page_format(question, "markdown", "html"),
        "ttl": 0,
    }


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    pages = answer.get("results")
    if not pages:
        raise UpstreamError("TinyFish has no content of this page")
    page = pages[0]
    return {
        "text": page.get("text") or page.get("content") or page.get("markdown") or page.get("html"),
        "url": page.get("final_url") or page.get("url"),
        "title": page.get("title"),
        "author": page.get("author"),
        "published_at": page.get("published_date"),
        "language": page.get("language"),
    }


TINYFISH = ProviderSpec(
    id="tinyfish",
    name="TinyFish",
    keys_url="https://agent.tinyfish.ai/api-keys",
    base_url="https://api.fetch.tinyfish.ai",
    auth=Auth(header="x-api-key", scheme="raw"),
    environment=("TINYFISH_API_KEY",),
    models=(fetch_model(0.0),),
    services=(Service(Kind.FETCH, JsonService(path="", write=write, read=read)),),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TINYFISH]
