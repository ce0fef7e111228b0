"""Web search and web fetch in the words that vendors have in common.

An adapter reads what a client wants with ``read_search`` and answers ``{"results": [row, …]}``;
``gateway_services.web`` says which members a row may have.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

from msgspec import Struct

from gateway_core import Kind, Model, Price

from .translated import JsonService, Question

SPAN_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
"""Days of each ``time_range`` but ``any``."""
_OWN = {"query", "provider", "content_options", "max_results", "search_type"}
"""Options that the gateway reads itself, or that every search has."""


class Search(Struct, frozen=True, kw_only=True):
    """What a client searches for, and what it says of the results."""

    query: str
    """Trimmed, and normalised to NFKC."""
    is_news: bool
    limit: int
    """How many results are wanted, within what the vendor gives at once."""
    country: str | None = None
    language: str | None = None
    span: str | None = None
    """``day``, ``week``, ``month`` or ``year``; ``None`` for any time."""
    offset: int = 0
    """How many results come before the first that is wanted."""
    include: tuple[str, ...] = ()
    """Domains that results have to be from."""
    exclude: tuple[str, ...] = ()
    """Domains that results may not be from."""
    wants_text: bool = False
    """The text of each page is wanted too."""

    @property
    def page(self) -> int:
        """The number of the page that begins at the offset, counted from 1."""
        return self.offset // self.limit + 1

    @property
    def with_sites(self) -> str:
        """The query with the operators that search engines have for domains."""
        wanted = " OR ".join(f"site:{domain}" for domain in self.include)
        parts = [self.query, f"({wanted})" if len(self.include) > 1 else wanted]
        parts += [f"-site:{domain}" for domain in self.exclude]
        return " ".join(filter(None, parts))

    def since(self) -> str | None:
        """The first day of the span, ``YYYY-MM-DD``."""
        if self.span is None:
            return None
        return (datetime.now(UTC) - timedelta(days=SPAN_DAYS[self.span])).date().isoformat()


def read_search(
    question: Question, *, usual: int, most: int, carries: Iterable[str] = ()
) -> Search:
    """Read the options of a search. Those that are not in ``carries`` are named as lost.

    ``usual`` results are asked for where the client does not say how many, at most ``most``.
    """
    members = question.members
    carried = {*_OWN, *carries}
    for name, value in members.items():
        if name not in carried and value not in (None, "", "any", 0, [], {}):
            question.losses.add(name)
    domains = members.get("domain_filter")
    listed = [d for d in domains if isinstance(d, str)] if isinstance(domains, list) else []
    content = members.get("content_options")
    limit, offset, span = (members.get(n) for n in ("max_results", "offset", "time_range"))
    return Search(
        query=unicodedata.normalize("NFKC", str(members["query"])).strip(),
        is_news=members.get("search_type") == "news",
        limit=min(max(limit, 1), most) if _is_number(limit) else usual,
        country=_text(members.get("country")),
        language=_text(members.get("language")),
        span=span if span in SPAN_DAYS else None,
        offset=max(offset, 0) if _is_number(offset) else 0,
        include=tuple(domain for domain in listed if not domain.startswith("-")),
        exclude=tuple(domain[1:] for domain in listed if domain.startswith("-")),
        wants_text=isinstance(content, Mapping) and bool(content.get("full_page")),
    )


def option_of(question: Question, name: str) -> Any:
    """An option of the vendor's own: the call's ``provider_options``, else the account's data."""
    options = question.members.get("provider_options")
    if isinstance(options, Mapping) and name in options:
        return options[name]
    return question.credential.data.get(name)


def page_format(question: Question, *possible: str) -> str:
    """The format of a page's text that the client wants, of those that the vendor has; the first
    is usual, and stands in for one that it lacks. All that is not carried is named as lost."""
    question.lose_all_but("url", "provider", "format", "max_characters")
    wanted = question.members.get("format") or possible[0]
    if wanted in possible:
        return str(wanted)
    question.losses.add("format")
    return possible[0]


def present(**members: Any) -> dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value not in (None, "", (), [])}


def rows_of(results: Any, **names: str) -> list[dict[str, Any]]:
    """Rows of results; each keyword is a member of ours, its value the vendor's name for it."""
    if not isinstance(results, list):
        return []
    kept = (row for row in results if isinstance(row, Mapping))
    return [{ours: row.get(theirs) for ours, theirs in names.items()} for row in kept]


def write_plain(question: Question) -> Mapping[str, Any]:
    """The words of a vendor that has none of its own."""
    search = read_search(question, usual=5, most=100)
    kind = "news" if search.is_news else "web"
    return {"query": search.query, "max_results": search.limit, "search_type": kind}


def read_plain(question: Question, answer: Any) -> Mapping[str, Any]:
    results = answer.get("results") if isinstance(answer, Mapping) else None
    same = {name: name for name in ("title", "url", "snippet", "published_at")}
    rows = rows_of(results, **same, text="content")
    for row in rows:
        text = row.pop("text")
        row["snippet"] = row["snippet"] or text
    return {"results": rows}


PLAIN_SEARCH = JsonService(path="/search", write=write_plain, read=read_plain)


def search_model(dollars: float) -> Model:
    """The catalog's row of a vendor that searches the web, at a price for each query."""
    return Model(
        "search",
        kind=Kind.SEARCH,
        price=Price(input=0.0, output=0.0, units={"queries": dollars}),
    )


def fetch_model(dollars: float) -> Model:
    """The catalog's row of a vendor that fetches pages, at a price for each page."""
    return Model(
        "fetch", kind=Kind.FETCH, price=Price(input=0.0, output=0.0, units={"pages": dollars})
    )


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
