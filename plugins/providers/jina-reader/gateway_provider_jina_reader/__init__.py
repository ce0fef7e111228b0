"""Jina Reader: a page's text, for anybody; with a key at a higher rate.

API reference: https://jina.ai/reader
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from gateway_core import Auth, Kind, ProviderSpec, Service, hookimpl
from gateway_providers.services import JsonService, Question, fetch_model, page_format

SLOW = 30.0
"""Seconds: a browser renders the page."""


def path(question: Question) -> str:
    return f"/{quote(str(question.members['url']), safe='')}"


def write(question: Question) -> Mapping[str, Any]:
    page_format(question, "markdown")
    return {}


def read(question: Question, answer: Any) -> Mapping[str, Any]:
    if isinstance(answer, bytes):
        text = answer.decode(errors="replace")
        headings = (line[2:].strip() for line in text.splitlines() if line.startswith("# "))
        return {"text": text, "title": next(headings, None)}
    page = answer["data"]
    return {
        "text": page.get("content"),
        "url": page.get("url"),
        "title": page.get("title"),
        "published_at": page.get("publishedTime"),
    }


JINA_READER = ProviderSpec(
    id="jina-reader",
    name="Jina Reader",
    keys_url="https://jina.ai/api-dashboard",
    base_url="https://r.jina.ai",
    auth=Auth(type="optional", scheme="bearer"),
    models=(fetch_model(0.0),),
    services=(
        Service(
            Kind.FETCH,
            JsonService(path=path, write=write, read=read, method="GET"),
            timeout=SLOW,
        ),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [JINA_READER]
