"""Web search and web fetch: what each vendor is asked, and what the client gets of its answer."""

from typing import Any
from unittest.mock import ANY
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import ProviderSpec
from gateway_providers import openai_compatible
from gateway_providers.services import search_model

FULL = {
    "query": " reefs ",
    "max_results": 3,
    "country": "de",
    "language": "en",
    "time_range": "week",
    "offset": 3,
    "domain_filter": ["a.example", "-b.example"],
}
PAGE = "https://example.com/reefs"
SITES = "reefs site:a.example -site:b.example"


def case(
    provider: str, path: str, sent: dict[str, Any], lost: str, answer: dict[str, Any]
) -> object:
    return pytest.param(provider, path, sent, lost, answer, id=provider)


SEARCHES = [
    case(
        "serper",
        "/v1/search",
        {"q": SITES, "num": 3, "gl": "de", "hl": "en", "tbs": "qdr:w", "page": 2},
        "",
        {"organic": [{"title": "Reef", "link": PAGE, "snippet": "All of it", "date": "Jan 2"}]},
    ),
    case(
        "brave-search",
        "/v1/web/search",
        {
            "q": SITES,
            "count": "3",
            "country": "DE",
            "search_lang": "en",
            "freshness": "pw",
            "offset": "1",
        },
        "",
        {
            "web": {
                "results": [
                    {"title": "Reef", "url": PAGE, "description": "All of it", "page_age": "Jan 2"}
                ]
            }
        },
    ),
    case(
        "tavily",
        "/v1/search",
        {
            "query": "reefs",
            "max_results": 3,
            "topic": "general",
            "country": "germany",
            "include_domains": ["a.example"],
            "exclude_domains": ["b.example"],
            "time_range": "week",
        },
        "language, offset",
        {
            "results": [
                {
                    "title": "Reef",
                    "url": PAGE,
                    "content": "All of it",
                    "published_date": "Jan 2",
                    "score": 0.5,
                }
            ]
        },
    ),
    case(
        "google-pse",
        "/v1",
        {
            "key": "sk-vendor-0123456789",
            "cx": "engine",
            "q": SITES,
            "num": "3",
            "gl": "de",
            "hl": "en",
            "dateRestrict": "w1",
            "start": "4",
        },
        "",
        {
            "items": [{"title": "Reef", "link": PAGE, "snippet": "All of it"}],
            "searchInformation": {"totalResults": "77"},
        },
    ),
    case(
        "exa",
        "/v1/search",
        {
            "query": "reefs",
            "numResults": 3,
            "type": "auto",
            "userLocation": "DE",
            "includeDomains": ["a.example"],
            "excludeDomains": ["b.example"],
            "contents": {"text": True, "highlights": True},
            "startPublishedDate": ANY,
        },
        "language, offset",
        {
            "results": [
                {
                    "title": "Reef",
                    "url": PAGE,
                    "highlights": ["All of it"],
                    "publishedDate": "Jan 2",
                    "text": "# Reefs",
                    "score": 0.5,
                }
            ]
        },
    ),
    case(
        "linkup",
        "/v1/search",
        {
            "q": "reefs",
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": 3,
            "includeDomains": ["a.example"],
            "excludeDomains": ["b.example"],
            "fromDate": ANY,
        },
        "country, language, offset",
        {"results": [{"name": "Reef", "url": PAGE, "content": "All of it", "type": "text"}]},
    ),
    case(
        "searchapi",
        "/v1/search",
        {
            "engine": "google",
            "api_key": "sk-vendor-0123456789",
            "q": SITES,
            "num": "3",
            "gl": "de",
            "hl": "en",
            "time_period": "last_week",
            "page": "2",
        },
        "",
        {
            "organic_results": [
                {"title": "Reef", "link": PAGE, "snippet": "All of it", "date": "Jan 2"}
            ]
        },
    ),
    case(
        "youcom",
        "/v1/search",
        {
            "query": "reefs",
            "count": "3",
            "freshness": "week",
            "offset": "1",
            "country": "DE",
            "language": "en",
            "include_domains": "a.example",
            "exclude_domains": "b.example",
        },
        "",
        {
            "results": {
                "web": [
                    {"title": "Reef", "url": PAGE, "snippets": ["All of it"], "page_age": "Jan 2"}
                ]
            }
        },
    ),
    case(
        "searxng",
        "/v1/search",
        {
            "q": SITES,
            "format": "json",
            "categories": "general",
            "language": "en",
            "time_range": "week",
            "pageno": "2",
        },
        "country",
        {
            "results": [
                {"title": "Reef", "url": PAGE, "content": "All of it", "publishedDate": "Jan 2"}
            ]
        },
    ),
]
DATED = {"exa", "brave-search", "serper", "tavily", "searchapi", "youcom", "searxng"}


def body_of(received: ReceivedRequest) -> dict[str, Any]:
    """What the vendor was sent: the members of a body, or the query."""
    if received.body:
        decoded: dict[str, Any] = msgspec.json.decode(received.body)
        return decoded
    return {name: values[0] for name, values in parse_qs(urlsplit(received.target).query).items()}


def search(here: Served, provider: str, **options: Any) -> httpx2.Response:
    members = {**FULL, "model": provider, **options}
    return httpx2.post(f"{here.url}/v1/search", json=members)


@pytest.mark.parametrize(("provider", "path", "sent", "lost", "answer"), SEARCHES)
def test_a_search_is_translated_both_ways(
    connected: Any, provider: str, path: str, sent: Any, lost: str, answer: Any
) -> None:
    here: Served = connected(
        lambda received: MockResponse((msgspec.json.encode(answer),)), provider
    )
    options = {"provider_options": {"cx": "engine"}} if provider == "google-pse" else {}

    got = search(here, f"{provider}/search", **options)

    [received] = here.vendors["vendor"].received
    assert urlsplit(received.target).path == path
    assert body_of(received) == sent
    assert got.status_code == 200
    assert got.headers.get("x-gateway-dropped", "") == lost
    shown = got.json()
    [row] = shown["results"]
    assert (shown["provider"], shown["usage"]["queries_used"]) == (provider, 1)
    assert (row["title"], row["url"], row["snippet"]) == ("Reef", PAGE, "All of it")
    assert (row["published_at"] == "Jan 2") == (provider in DATED)
    [ledger] = here.rows()
    assert (ledger.endpoint, ledger.units) == ("/v1/search", {"queries": 1})


def test_the_suffix_and_the_bare_name_mean_the_vendor(connected: Any) -> None:
    here: Served = connected(lambda received: MockResponse((b'{"organic":[]}',)), "serper")

    answers = [search(here, name) for name in ("serper", "serper-search", "serper/search")]

    assert [each.status_code for each in answers] == [200, 200, 200]


FETCHES = [
    case(
        "exa",
        "/v1/contents",
        {"ids": [PAGE], "text": True},
        "",
        {"results": [{"text": "# Reefs", "title": "Reefs", "url": PAGE}]},
    ),
    case(
        "tavily",
        "/v1/extract",
        {"urls": [PAGE], "extract_depth": "basic", "format": "markdown"},
        "",
        {"results": [{"raw_content": "# Reefs", "url": PAGE}]},
    ),
    case(
        "firecrawl",
        "/v1/v1/scrape",
        {"url": PAGE, "formats": ["markdown"]},
        "",
        {"success": True, "data": {"markdown": "# Reefs", "metadata": {"title": "Reefs"}}},
    ),
    case(
        "firecrawl_custom",
        "/v1/v2/scrape",
        {"url": PAGE, "formats": ["markdown"]},
        "",
        {"success": True, "data": {"markdown": "# Reefs", "metadata": {"title": "Reefs"}}},
    ),
    case(
        "tinyfish",
        "/v1",
        {"urls": [PAGE], "format": "markdown", "ttl": 0},
        "",
        {"results": [{"text": "# Reefs", "title": "Reefs"}]},
    ),
]


@pytest.mark.parametrize(("provider", "path", "sent", "lost", "answer"), FETCHES)
def test_a_page_is_fetched(
    connected: Any, provider: str, path: str, sent: Any, lost: str, answer: Any
) -> None:
    here: Served = connected(
        lambda received: MockResponse((msgspec.json.encode(answer),)), provider
    )

    got = httpx2.post(f"{here.url}/v1/web/fetch", json={"model": provider, "url": PAGE})

    [received] = here.vendors["vendor"].received
    assert (urlsplit(received.target).path, body_of(received)) == (path, sent)
    assert (got.status_code, got.headers.get("x-gateway-dropped", "")) == (200, lost)
    shown = got.json()
    assert shown["content"] == {"format": "markdown", "text": "# Reefs", "length": 7}
    assert shown["url"] == PAGE
    [ledger] = here.rows()
    assert ledger.units == {"pages": 1}


@pytest.mark.parametrize("accounts", [(), ("firecrawl_custom",)], ids=["keyless", "saved"])
def test_a_setting_names_the_operators_own_crawler(
    connected: Any, accounts: tuple[str, ...]
) -> None:
    page = MockResponse((b'{"success":true,"data":{"markdown":"# Reefs"}}',))
    here: Served = connected(lambda received: page, accounts=accounts)
    address = f"{here.vendors['vendor'].url}/crawler"

    async def work() -> None:
        core = here.gateway.core
        await core.stores.settings.patch({"firecrawlBaseUrl": address})
        await core.refresh()

    here.do(work())
    got = httpx2.post(f"{here.url}/v1/web/fetch", json={"model": "firecrawl_custom", "url": PAGE})

    assert got.status_code == 200, got.text
    [received] = here.vendors["vendor"].received
    # The address of a saved account is nearer than the setting.
    assert received.path == ("/v1/v2/scrape" if accounts else "/crawler/v2/scrape")


@pytest.mark.parametrize(
    ("country", "sent", "lost"),
    [("Japan", "japan", ""), ("jp", "japan", ""), ("xx", None, "country")],
)
def test_a_vendor_that_has_names_of_countries_gets_a_name(
    connected: Any, country: str, sent: str | None, lost: str
) -> None:
    here: Served = connected(lambda received: MockResponse((b'{"results":[]}',)), "tavily")

    got = search(here, "tavily", country=country, language=None, offset=None)

    assert body_of(here.vendors["vendor"].received[0]).get("country") == sent
    assert got.headers.get("x-gateway-dropped", "") == lost


def test_the_reader_answers_plain_text(connected: Any) -> None:
    page = MockResponse((b"# Reefs\n\nAll of it",), content_type="text/plain; charset=utf-8")
    here: Served = connected(lambda received: page, "jina-reader")

    got = httpx2.post(
        f"{here.url}/v1/web/fetch",
        json={"model": "jina-reader/fetch", "url": PAGE, "max_characters": 7},
    )

    [received] = here.vendors["vendor"].received
    assert received.target == "/v1/https%3A%2F%2Fexample.com%2Freefs"
    assert got.json()["title"] == "Reefs"
    assert got.json()["content"]["text"] == "# Reefs"


@pytest.mark.parametrize("provider", ["tavily", "exa", "tinyfish"])
def test_a_page_without_content_is_a_failure(connected: Any, provider: str) -> None:
    here: Served = connected(lambda received: MockResponse((b'{"results":[]}',)), provider)

    got = httpx2.post(f"{here.url}/v1/web/fetch", json={"model": provider, "url": PAGE})

    assert got.status_code == 502


def test_a_search_engine_without_its_id_is_refused(connected: Any) -> None:
    here: Served = connected(lambda received: MockResponse((b"{}",)), "google-pse")

    got = search(here, "google-pse")

    assert got.status_code == 400
    assert "cx" in got.json()["error"]["message"]
    assert not here.vendors["vendor"].received


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("opencode-zen/jev-1.13", "/v1/systemone"),
        ("oc/jev-1.13-free", "/v1/systemone"),
        ("laya/english", "/v1/systemone"),
    ],
)
def test_a_decision_passes_through(connected: Any, model: str, path: str) -> None:
    answer = b'{"answers":{"urgent":{"answer":true}},"usage":{"input_tokens":9,"output_tokens":2}}'
    provider = {"oc": "opencode"}.get(model.partition("/")[0], model.partition("/")[0])
    here: Served = connected(lambda received: MockResponse((answer,)), provider)
    members = {"state": {"a": [1]}, "questions": {"urgent": {"question": "Now?"}}, "extra": 1}

    got = httpx2.post(f"{here.url}/v1/systemone", json={"model": model, **members})

    [received] = here.vendors["vendor"].received
    assert (received.target, body_of(received)) == (
        path,
        {**members, "model": model.partition("/")[2]},
    )
    assert (got.status_code, got.content) == (200, answer)
    assert ("x-opencode-session" in received.headers) == (provider != "laya")
    [row] = here.rows()
    assert (row.input_tokens, row.output_tokens) == (9, 2)
    assert (row.cost or 0) == 0


def test_a_vendor_without_words_of_its_own_is_asked_plainly(connected: Any) -> None:
    results = [
        {"title": "Reef", "url": PAGE, "snippet": "All of it", "more": 1},
        {"title": "Sea", "url": f"{PAGE}/2", "content": "Some of it"},
        "odd",
    ]
    spec = ProviderSpec(
        id="plain-search",
        name="Plain",
        base_url="https://plain.test/v1",
        models=(search_model(0.0),),
    )
    here: Served = connected(
        lambda received: MockResponse((msgspec.json.encode({"results": results}),)),
        "plain-search",
        specs=lambda vendor: [openai_compatible(spec, services=("search",))],
    )

    got = search(here, "plain-search/search")

    [received] = here.vendors["vendor"].received
    assert (received.method, received.target) == ("POST", "/v1/search")
    assert received.headers["authorization"] == "Bearer sk-vendor-0123456789"
    assert body_of(received) == {
        "query": "reefs",
        "max_results": 3,
        "search_type": "web",
    }
    lost = "country, language, time_range, offset, domain_filter"
    assert got.headers["x-gateway-dropped"] == lost
    assert [(row["title"], row["snippet"]) for row in got.json()["results"]] == [
        ("Reef", "All of it"),
        ("Sea", "Some of it"),
    ]
