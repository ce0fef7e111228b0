"""Answers of web search and web fetch (4.6): a vendor's adapter gives the facts, and the whole
shape is written here.

For a search an adapter answers ``{"results": [row, …]}`` with rows of ``title``, ``url`` and, where
they are known, ``snippet``, ``score``, ``published_at``, ``favicon_url``, ``text``, ``author``,
``language``, ``source_type`` and ``image_url``; beside ``results`` it may put ``answer`` and
``total``. For a page it answers ``{"text": …}``, and may add ``url``, ``title``, ``author``,
``published_at``, ``language`` and ``links``.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway_core import Call, ServiceExchange, Target, UpstreamError, Usage

from .answers import Reshaped, encode
from .intake import value_of

QUERIES = "queries"
PAGES = "pages"
DEFAULT_FORMAT = "markdown"
_anything = msgspec.json.Decoder().decode
Clock = Callable[[], float]


class WebAnswer(Reshaped):
    """What both have in common: the time they took and what they cost."""

    unit = QUERIES

    def __init__(self, call: Call, target: Target, inner: ServiceExchange) -> None:
        super().__init__(inner)
        self.call, self.target = call, target
        self._begun = time.monotonic()
        self._asked = self._begun

    @property
    def usage(self) -> Usage | None:
        return self.inner.usage or Usage(units={self.unit: 1})

    def option(self, name: str) -> Any:
        """A member of the client's request."""
        raw = self.call.members.get(name)
        return None if raw is None else value_of(raw)

    def cost(self) -> float:
        """US dollars, by the vendor's price."""
        price = self.target.model.price
        return 0.0 if price is None or price.units is None else price.units.get(self.unit, 0.0)

    def metrics(self) -> dict[str, int]:
        took = round((time.monotonic() - self._begun) * 1000)
        return {"response_time_ms": took, "upstream_latency_ms": took}

    def reshape(self, body: bytes) -> bytes:
        answer = _anything(body)
        if not isinstance(answer, Mapping):
            raise UpstreamError("The upstream's answer cannot be read")
        return encode(self.shape(answer))

    @abstractmethod
    def shape(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The client's answer, made of the vendor's."""


class SearchAnswer(WebAnswer):
    """``{provider, query, results, answer, usage, metrics, errors}``."""

    def shape(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        provider = self.target.provider.id
        listed = answer.get("results")
        rows = [row for row in listed if isinstance(row, Mapping)] if listed else []
        results = [row for row in rows if isinstance(row.get("url"), str)]
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = answer.get("answer")
        return {
            "provider": provider,
            "query": self.option("query"),
            "results": [
                self._row(row, place, provider, moment) for place, row in enumerate(results, 1)
            ],
            "answer": {"text": text} if isinstance(text, str) and text else text or None,
            "usage": {"queries_used": 1, "search_cost_usd": self.cost()},
            "metrics": {**self.metrics(), "total_results_available": answer.get("total")},
            "errors": [],
        }

    def _row(
        self, row: Mapping[str, Any], place: int, provider: str, moment: str
    ) -> dict[str, Any]:
        options = self.option("content_options")
        text = row.get("text")
        return {
            "title": row.get("title") or "",
            "url": row["url"],
            "display_url": display_url(row["url"]),
            "snippet": row.get("snippet") or "",
            "position": place,
            "score": row.get("score"),
            "published_at": row.get("published_at"),
            "favicon_url": row.get("favicon_url"),
            "content": content_of(text, options if isinstance(options, Mapping) else {}),
            "metadata": {
                name: row.get(name) for name in ("author", "language", "source_type", "image_url")
            },
            "citation": {"provider": provider, "retrieved_at": moment, "rank": place},
            "provider_raw": None,
        }


class FetchAnswer(WebAnswer):
    """``{provider, url, title, content, metadata, usage, metrics}``."""

    unit = PAGES

    def shape(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        text = answer.get("text")
        if not isinstance(text, str) or not text:
            raise UpstreamError("The upstream found no content at this address")
        options = {name: self.option(name) for name in ("format", "max_characters")}
        if "format" in self.losses.names:  # What the vendor gives instead of it.
            options["format"] = DEFAULT_FORMAT
        shaped = {
            "provider": self.target.provider.id,
            "url": answer.get("url") or self.option("url"),
            "title": answer.get("title"),
            "content": content_of(text, options),
            "metadata": {name: answer.get(name) for name in ("author", "published_at", "language")},
            "usage": {"fetch_cost_usd": self.cost()},
            "metrics": self.metrics(),
        }
        links = answer.get("links")
        return {**shaped, "links": links} if isinstance(links, list) else shaped


def content_of(text: object, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """A page's text, cut to what the client wants."""
    if not isinstance(text, str) or not text:
        return None
    most = options.get("max_characters")
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        text = text[:most]
    return {
        "format": options.get("format") or DEFAULT_FORMAT,
        "text": text,
        "length": len(text),
    }


def display_url(url: str) -> str:
    """An address without its scheme, ``www.`` and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}"
