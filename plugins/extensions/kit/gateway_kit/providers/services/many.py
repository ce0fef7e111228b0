"""Cases about answers of several parts: as many as the vendor gave, each with its own members, in
their order."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from struct import unpack
from typing import Any

import msgspec
from msgspec.structs import replace

from gateway_core import GatewayError, Kind, ServiceExchange, UpstreamRequest
from gateway_kit.case import Case, CaseFailed, expect_none

from ..harness import ProviderHarness
from ..service_samples import JSON
from .answers import whole
from .growth import (
    Path,
    at,
    decode_reply,
    find_rows,
    find_vectors,
    lists_in,
    mark_texts,
    put,
    vector_in,
)
from .service_call import ServiceCall, feed_all
from .traces import leaves, objects_in, texts_of, with_members

FEW, MANY = 3, 2_100
PICTURES, RESULTS = 3, 4
DOCUMENTS = ("kit document 0", "kit document 1", "kit document 2", "kit document 3")
SCORES = (0.75, 0.25, 0.875, 0.5)
"""Of the documents in their order."""
VERDICTS = (False, True, True)
"""Of the texts in their order: whether each is flagged."""
_TEXT = re.compile(r"kit-text-(\d{5})")
_SHOWN = ("title", "name", "url", "link", "author")
_EXCERPTS = ("snippet", "snippets", "highlights", "description", "content", "text")
_DATES = ("date", "page_age", "published_date", "publishedDate", "published_at", "publish_date")
_LISTS = {
    Kind.IMAGE: "data",
    Kind.SEARCH: "results",
    Kind.MODERATION: "results",
    Kind.DOCUMENT_PARSING: "pages",
}
"""The member of the client's answer that is a list."""


def many_cases(call: ServiceCall) -> Iterator[Case]:
    kind = call.service.kind
    reply = decode_reply(call)
    if reply is None:
        return

    async def vectors(harness: ProviderHarness) -> None:
        expect_none(vector_faults(call, FEW))
        expect_none(vector_faults(call, FEW, is_reversed=True))

    async def many_vectors(harness: ProviderHarness) -> None:
        expect_none(vector_faults(call, MANY))

    async def packed(harness: ProviderHarness) -> None:
        expect_none(packing_faults(call))

    async def ranking(harness: ProviderHarness) -> None:
        expect_none(ranking_faults(call))

    async def page(harness: ProviderHarness) -> None:
        expect_none(page_faults(call))

    async def rows(harness: ProviderHarness) -> None:
        expect_none(row_faults(call))

    if kind == Kind.EMBEDDING:
        order = "Give each text its vector, in the order of the texts"
        yield call.case("each vector", f"{order}, and count the tokens of all.", vectors)
        yield call.case("many vectors", f"{order}, over several requests too.", many_vectors)
        yield call.case(
            "packed vectors",
            "Answer encoding_format base64 with little-endian floats, or name it in losses.",
            packed,
        )
    elif kind == Kind.RERANK:
        yield call.case(
            "ranking", "Give each score with its document's place, the best first.", ranking
        )
    elif kind == Kind.FETCH:
        yield call.case("page", "Give what the vendor says about a page: title, author.", page)
    elif kind in _LISTS:
        yield call.case(
            "each part",
            "Hand on as many parts as the vendor gives, in its order, and count all of them.",
            rows,
        )


def vector_faults(call: ServiceCall, count: int, *, is_reversed: bool = False) -> Iterator[str]:
    """What is wrong with the vectors of so many texts."""
    asked = with_members(call, {"input": [f"kit-text-{place:05}" for place in range(count)]})
    try:
        exchange = asked.open()
    except GatewayError:
        return  # it takes fewer at once, and says so
    request: UpstreamRequest | None = exchange.request
    seen, output, requests = 0, b"", 0
    while request is not None:
        places = [int(found) for found in _TEXT.findall(texts_of([request]))]
        if places != list(range(seen, seen + len(places))) or not places:
            yield f"after {seen} texts it asks for {places[:3] or 'none'}"
            return
        seen, requests = seen + len(places), requests + 1
        reply = vector_reply(call, places, is_reversed=is_reversed)
        if reply is None:
            return
        output = feed_all(exchange, (reply,), JSON).body
        if exchange.failure is not None:
            yield f"{count} texts are a failure: {exchange.failure.message}"
            return
        request = None if exchange.following is None else exchange.following.request
    if seen < count:
        yield f"of {count} texts {seen} are sent"
    yield from _listed_vector_faults(output, count)
    yield from _token_faults(call, exchange, {requests, count, 1 if requests == 1 else requests})


def vector_reply(call: ServiceCall, places: Sequence[int], *, is_reversed: bool) -> bytes | None:
    """The vendor's answer to these texts; ``None`` where the sample does not show how it looks."""
    reply = decode_reply(call)
    path = find_vectors(reply)
    single = vector_in(reply)
    if path is None:
        is_one = len(places) == 1 and single
        return _encoded(put(reply, single, vector_of(places[0]))) if is_one and single else None
    item = at(reply, path)[0]
    inner = vector_in(item)
    assert inner is not None
    rows = [_numbered(put(item, inner, vector_of(n)), place) for place, n in enumerate(places)]
    is_numbered = isinstance(item, dict) and "index" in item
    return _encoded(put(reply, path, rows[::-1] if is_reversed and is_numbered else rows))


def vector_of(place: int) -> list[float]:
    return [0.25 + place, -0.5 - place]


def _numbered(item: Any, place: int) -> Any:
    return {**item, "index": place} if isinstance(item, dict) and "index" in item else item


def _listed_vector_faults(output: bytes, count: int) -> Iterator[str]:
    data = _list_of(output, "data")
    if len(data) != count:
        yield f"for {count} texts the client gets {len(data)} vectors"
        return
    by_index = sorted(data, key=lambda row: row.get("index", -1))
    for place, row in enumerate(by_index):
        if row.get("index") != place or row.get("embedding") != vector_of(place):
            yield f"text {place} has the vector of index {row.get('index')}: {row.get('embedding')}"
            return


def _token_faults(call: ServiceCall, exchange: ServiceExchange, times: set[int]) -> Iterator[str]:
    expected, usage = call.sample.usage, exchange.usage
    if expected is not None and expected.input_tokens:
        counted = 0 if usage is None else usage.input_tokens
        possible = {each * expected.input_tokens for each in times}
        if counted not in possible:
            yield f"{counted} tokens are counted, and the answers report {sorted(possible)[0]}"


def packing_faults(call: ServiceCall) -> Iterator[str]:
    """Whether vectors that are asked for in base64 come as numbers without a word."""
    vector = vector_in(decode_reply(call))
    path = find_vectors(decode_reply(call))
    if vector is None and path is None:
        return
    asked = with_members(call, {"encoding_format": "base64"})
    try:
        exchange = asked.open()
    except GatewayError:
        return
    if "base64" in texts_of([exchange.request]) or "encoding_format" in exchange.losses.names:
        return
    row = _list_of(feed_all(exchange, (call.sample.reply,), JSON).body, "data")[0]
    embedding = row.get("embedding")
    if not isinstance(embedding, str):
        yield "for encoding_format base64 there are numbers"
        return
    packed = b64decode(embedding)
    numbers = list(unpack(f"<{len(packed) // 4}f", packed)) if len(packed) % 4 == 0 else []
    if [str(n).encode() for n in numbers] != list(call.sample.shown):
        yield f"packed as little-endian floats the vector is {numbers}"


def ranking_faults(call: ServiceCall) -> Iterator[str]:
    """Whether the scores stay with their documents."""
    asked = with_members(call, {"query": "kit", "documents": list(DOCUMENTS)})
    asked_of = msgspec.json.decode(call.sample.request).get("documents", ())
    reply = ranking_reply(decode_reply(call), len(asked_of))
    if reply is None:
        return
    exchange = asked.open()
    rows = _list_of(feed_all(exchange, (reply,), JSON).body, "results")
    if exchange.failure is not None:
        yield f"{len(DOCUMENTS)} scores are a failure: {exchange.failure.message}"
        return
    seen = [(row.get("index"), _score(row)) for row in rows]
    best_first = sorted(enumerate(SCORES), key=lambda pair: -pair[1])
    if sorted(seen, key=str) != sorted(best_first, key=str):
        yield f"the scores {dict(enumerate(SCORES))} become {seen}"
    elif seen != best_first:
        yield f"the best is not first: {seen}"
    for row in rows:
        document = row.get("document")
        text = document.get("text") if isinstance(document, Mapping) else document
        if isinstance(text, str) and text != DOCUMENTS[row["index"]]:
            yield f"at place {row['index']} stands {text!r}"
    units = (exchange.usage.units if exchange.usage is not None else None) or {}
    if units.get("documents", len(DOCUMENTS)) != len(DOCUMENTS):
        yield f"of {len(DOCUMENTS)} documents {units['documents']:g} are counted"


def ranking_reply(reply: Any, documents: int) -> bytes | None:
    """The vendor's answer with a score for each document; ``None`` for a shape that is not known:
    scores in the documents' order, or objects with a place and a score, the best first."""
    for path, rows in lists_in(reply):
        if len(rows) == documents and all(isinstance(each, float) for each in rows):
            return _encoded(put(reply, path, list(SCORES)))
        if rows and all(isinstance(each, dict) for each in rows):
            place = _only(rows[0], int)
            score = _only(rows[0], float)
            if place and score:
                new = [
                    _renamed({**rows[0], place: number, score: value}, number)
                    for number, value in sorted(enumerate(SCORES), key=lambda pair: -pair[1])
                ]
                return _encoded(put(reply, path, new))
    return None


def _renamed(row: dict[str, Any], place: int) -> dict[str, Any]:
    """A row that quotes its document, if rows do."""
    document = row.get("document")
    if isinstance(document, dict) and "text" in document:
        return {**row, "document": {**document, "text": DOCUMENTS[place]}}
    return {**row, "document": DOCUMENTS[place]} if isinstance(document, str) else row


def _only(row: Mapping[str, Any], type_: type) -> str | None:
    """The only member of a type."""
    names = [name for name, value in row.items() if type(value) is type_]
    return names[0] if len(names) == 1 else None


def row_faults(call: ServiceCall) -> Iterator[str]:
    """Whether all of the vendor's parts are in the client's answer, with what belongs to each."""
    kind = call.service.kind
    grown = grow(call)
    if grown is None:
        return
    path, marked = grown
    asked = {Kind.IMAGE: {"n": PICTURES}, Kind.SEARCH: {"max_results": 10}}.get(Kind(kind), {})
    before = _list_of(_answered(call, call.sample.reply)[1], _LISTS[Kind(kind)])
    original = at(decode_reply(call), path)
    if len(before) != len(original):
        return  # the client's list is of something else
    bigger = with_members(call, asked)
    exchange, output = _answered(bigger, _encoded(put(decode_reply(call), path, marked)))
    after = _list_of(output, _LISTS[Kind(kind)])
    if len(after) != len(marked):
        if "n" not in exchange.losses.names:
            yield f"of {len(marked)} parts the client gets {len(after)}"
        return
    for place, row in enumerate(after):
        words = _worth(kind, marked[place])
        text = "\n".join(leaves(row))
        missing = [word for word in words if word not in text]
        if kind == Kind.SEARCH:
            missing += _unsaid(marked[place], row)
        if missing:
            yield f"part {place} is without {missing[0]!r}"
            return
    flags = [row.get("flagged") for row in after]
    if kind == Kind.MODERATION and flags != [item["flagged"] for item in marked]:
        yield f"what is flagged is out of order: {flags}"
    if kind == Kind.IMAGE:
        yield from _picture_faults(exchange, len(marked))


def enlarged(call: ServiceCall) -> ServiceCall:
    """The call with so many results or scores in its answer that a limit on them shows."""
    reply = decode_reply(call) if call.is_answered else None
    if reply is None:
        return call
    if call.service.kind == Kind.RERANK:
        asked_of = msgspec.json.decode(call.sample.request).get("documents", ())
        bigger = ranking_reply(reply, len(asked_of))
        asked = with_members(call, {"documents": list(DOCUMENTS)})
        return asked if bigger is None else _with_reply(asked, bigger)
    if call.service.kind == Kind.SEARCH and (grown := grow(call)) is not None:
        return _with_reply(call, _encoded(put(reply, *grown)))
    return call


def _with_reply(call: ServiceCall, reply: bytes) -> ServiceCall:
    return replace(call, sample=replace(call.sample, reply=reply))


def page_faults(call: ServiceCall) -> Iterator[str]:
    """What a vendor says about a page and the client is not told."""
    told = "\n".join(leaves(msgspec.json.decode(whole(call).body)))
    for members in objects_in(decode_reply(call)):
        for name in ("title", "author", "language"):
            value = members.get(name)
            if isinstance(value, str) and value not in told:
                yield f"the page's {name} {value!r} is lost"


def grow(call: ServiceCall) -> tuple[Path, list[Any]] | None:
    """Where a reply has its parts, and more of them; ``None`` where it has no such list."""
    reply = decode_reply(call)
    if call.service.kind == Kind.MODERATION:
        rows = reply.get("results") if isinstance(reply, dict) else None
        if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
            return None
        return ("results",), [{**rows[0], "flagged": flag} for flag in VERDICTS]
    path = find_rows(reply, call.sample.shown)
    if path is None:
        return None
    count = RESULTS if call.service.kind == Kind.SEARCH else PICTURES
    item = at(reply, path)[0]
    return path, [_part(item, place) for place in range(count)]


def _part(item: Any, place: int) -> Any:
    """Another part of the same shape."""
    marked = mark_texts(item, place)
    if isinstance(marked, dict):
        for name in ("title", "name", "snippet", "description", "content", "markdown"):
            if isinstance(marked.get(name), str) and marked[name]:
                marked[name] = f"{item[name]} kit{place}"
    return marked


def _worth(kind: str, item: Any) -> list[str]:
    """What the client has to get of a part."""
    if isinstance(item, str):
        return [item.rpartition("base64,")[2]]
    if kind == Kind.SEARCH:
        return [item[name] for name in _SHOWN if isinstance(item.get(name), str) and item[name]]
    if kind == Kind.DOCUMENT_PARSING:
        return [item["markdown"]] if isinstance(item.get("markdown"), str) else []
    if kind == Kind.MODERATION:
        return []
    inner = [leaf for leaf in leaves(item) if "kit" in leaf or leaf.startswith("iVBOR")]
    return [leaf.rpartition("base64,")[2] for leaf in inner]


def _unsaid(item: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[str]:
    """What a search result has by its usual names, and the client's row has nowhere."""
    excerpts = [text for name in _EXCERPTS for text in leaves(item.get(name)) if text]
    texts = list(leaves(row))
    if excerpts and not any(each in text for each in excerpts for text in texts):
        yield excerpts[0]
    if isinstance(score := item.get("score"), float) and 0 <= score <= 1:
        yield from () if row.get("score") == score else ("score",)
    if any(isinstance(item.get(name), str) and item[name] for name in _DATES):
        yield from () if row.get("published_at") else ("published_at",)


def _picture_faults(exchange: ServiceExchange, count: int) -> Iterator[str]:
    units = (exchange.usage.units if exchange.usage is not None else None) or {}
    counted = [amount for name, amount in units.items() if name.partition("/")[0] == "images"]
    if counted and sum(counted) != count:
        yield f"of {count} pictures {sum(counted):g} are counted"


def _answered(call: ServiceCall, reply: bytes) -> tuple[ServiceExchange, bytes]:
    """What becomes of an answer. Raises CaseFailed where it is taken for a failure."""
    exchange = _with_reply(call, reply).answering()
    output = feed_all(exchange, (reply,), JSON).body
    if exchange.failure is not None:
        raise CaseFailed(f"a sound answer is a failure: {exchange.failure.message}")
    return exchange, output


def _list_of(body: bytes, name: str) -> list[Any]:
    """A list in the client's answer; empty where there is none."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    rows = value.get(name) if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _score(row: Mapping[str, Any]) -> Any:
    return next((row[name] for name in ("relevance_score", "score") if name in row), None)


_encoded = msgspec.json.encode
