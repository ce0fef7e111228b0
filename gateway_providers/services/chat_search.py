"""Search of a vendor that has no search of its own: a chat model looks the query up with the
vendor's search tool. What it cites are the results; what it says is the answer.

The responses tool: https://platform.openai.com/docs/guides/tools-web-search
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gateway_core import Kind, Model, Price, Service, Usage

from .translated import JsonService, Question
from .usages import read_usage
from .web import Search, present, read_search

LINK = re.compile(r"\[([^\]\n]{1,300})\]\((https?://[^\s)]{1,2000})\)")
BARE = re.compile(r"https?://[^\s)\]>\"'`,]{1,2000}")
USUAL, MOST = 5, 20
SNIPPET = 500


def chat_search_model(dollars: float, *, input: float, output: float) -> Model:
    """The catalog's row: dollars for each search, and for a million of the model's tokens."""
    return Model(
        "search",
        kind=Kind.SEARCH,
        price=Price(input=input, output=output, units={"queries": dollars}),
    )


def ask(search: Search) -> str:
    """The query as a question to a model."""
    what = "news about" if search.is_news else "pages about"
    lines = [f"Search the web for {what}: {search.with_sites}"]
    if search.span:
        lines.append(f"Only results of the last {search.span}.")
    if search.country:
        lines.append(f"Results for the country {search.country.upper()}.")
    if search.language:
        lines.append(f"Results in the language {search.language}.")
    lines.append(f"Answer briefly and cite up to {search.limit} sources as [title](URL).")
    return "\n".join(lines)


def read_chat_search(question: Question) -> Search:
    """A search whose options are words to a model."""
    carries = ("country", "language", "time_range", "domain_filter")
    return read_search(question, usual=USUAL, most=MOST, carries=carries)


def results(question: Question, text: str, cited: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What is cited, else the links in the text, each address once."""
    sources: dict[str, Mapping[str, Any]] = {}
    for row in (*cited, *links_in(text)):
        if isinstance(row.get("url"), str):
            sources.setdefault(row["url"], row)
    return {"results": list(sources.values())[: read_chat_search(question).limit], "answer": text}


def links_in(text: str) -> Iterable[Mapping[str, Any]]:
    """Links in the order in which they stand: written as links, else bare addresses."""
    for link in LINK.finditer(text):
        yield {"title": link[1], "url": link[2], "snippet": line_of(text, link.start())}
    for bare in BARE.finditer(LINK.sub("", text)):
        yield {"title": bare[0], "url": bare[0].rstrip(".;:")}


def line_of(text: str, place: int) -> str:
    """The line that a citation stands in, with links as their titles."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start:] if end < 0 else text[start:end]
    return LINK.sub(r"\1", line).strip(" *-#")[:SNIPPET]


def one_query(question: Question, answer: Any) -> Usage:
    """The model's tokens and one search."""
    units = {"queries": 1.0}
    return read_usage(answer, units) or Usage(units=units)


def responses_search(model: str) -> Service:
    """Search over the responses format with its tool ``web_search``."""

    def write(question: Question) -> Mapping[str, Any]:
        search = read_chat_search(question)
        filters = present(allowed_domains=list(search.include))
        tool = {"type": "web_search", **present(filters=filters or None)}
        return {"model": model, "input": ask(search), "tools": [tool], "store": False}

    return Service(
        Kind.SEARCH,
        JsonService(path="/responses", write=write, read=read_response, usage=one_query),
    )


def read_response(question: Question, answer: Any) -> Mapping[str, Any]:
    texts: list[str] = []
    cited: list[Mapping[str, Any]] = []
    for item in answer["output"]:
        for part in item.get("content") or () if item.get("type") == "message" else ():
            text = part.get("text") or ""
            texts.append(text)
            cited += (cite(text, note) for note in part.get("annotations") or ())
    return results(question, "\n".join(texts), cited)


def cite(text: str, note: Mapping[str, Any]) -> Mapping[str, Any]:
    """One citation of a text."""
    place = note.get("start_index")
    snippet = line_of(text, place) if isinstance(place, int) and place >= 0 else None
    return {"title": note.get("title"), "url": note.get("url"), "snippet": snippet}


def read_completion(question: Question, answer: Any) -> Mapping[str, Any]:
    """A chat completion that names its sources in its text."""
    text = answer["choices"][0]["message"]["content"] or ""
    return results(question, text, ())
