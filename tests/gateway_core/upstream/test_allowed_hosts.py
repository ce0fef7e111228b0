"""Which addresses a declaration and an account's data stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import provider

from gateway_core import OAuth
from gateway_core.upstream.allowed_hosts import allowed_hosts, is_named, origin_of
from gateway_core.upstream.transport import MalformedUrl
from gateway_core.upstream.transport.urls import parse

ACME = provider("acme", base_url="https://api.acme.com/v1")
REGIONS = provider("regions", hosts=("runtime.*.acme.com", "*-x.acme.com"))


def covers(spec: object, url: str) -> bool:
    try:
        return allowed_hosts(spec).covers(parse(url).origin)  # type: ignore[arg-type]
    except MalformedUrl:
        return False


@pytest.mark.parametrize(
    "url",
    [
        "https://api.acme.com/v1/chat",
        "https://api.acme.com:443/elsewhere?key=1",
        "HTTPS://API.ACME.COM/",
    ],
)
def test_an_origin_is_the_same_however_it_is_written(url: str) -> None:
    assert covers(ACME, url)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.acme.com/v1",
        "https://api.acme.com:8443/v1",
        "https://api.acme.com./v1",
        "https://api.acme.com.thief.test/v1",
        "https://thief.test/https://api.acme.com/v1",
        "https://xapi.acme.com/v1",
        "https://acme.com/v1",
        "https://api.acme.com@thief.test/v1",
        "https://thief.test#@api.acme.com/v1",
        "https://thief.test\\@api.acme.com/v1",
        "https://api.аcme.com/v1",
        "https://api.acme.com%2ethief.test/v1",
        "https://api.acme.com%00.thief.test/v1",
        "https://api.acme.com:443:80/v1",
    ],
)
def test_what_only_looks_like_it_is_somewhere_else(url: str) -> None:
    assert not covers(ACME, url)


@given(st.text(max_size=60))
def test_no_path_that_a_format_gives_leads_to_another_host(path: str) -> None:
    try:
        url = parse(f"https://api.acme.com{path}")
    except MalformedUrl:
        return

    assert allowed_hosts(ACME).covers(url.origin) == (
        url.host == "api.acme.com" and url.port == 443
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://runtime.eu-1.acme.com", True),
        ("https://eu-x.acme.com", True),
        ("https://runtime..acme.com", False),
        ("https://runtime.a.b.acme.com", False),
        ("https://runtime.eu.acme.com.thief.test", False),
        ("https://thief.test/runtime.eu.acme.com", False),
        ("http://runtime.eu.acme.com", False),
        ("https://runtime.eu.acme.com:8443", False),
    ],
)
def test_a_star_stands_for_a_part_of_one_label(url: str, expected: bool) -> None:
    assert covers(REGIONS, url) is expected


def test_every_declared_address_counts() -> None:
    spec = provider(
        "acme",
        base_url="https://a.test/v1",
        base_urls=("https://b.test/v1",),
        responses_url="https://c.test/v1/responses",
        other_formats={"claude": "https://d.test/v1"},
        models_url="https://e.test/models?all=1",
        oauth=OAuth(
            flow="pkce",
            authorize_url="https://f.test/a",
            token_url="https://g.test/t",
            client_id="x",
        ),
        hosts=("h.test", "i.test:8443", "http://j.test"),
    )

    declared = {f"https://{name}.test:443" for name in "abcdefgh"}
    assert allowed_hosts(spec).origins == declared | {"https://i.test:8443", "http://j.test:80"}


def test_a_template_stands_for_one_label() -> None:
    spec = provider("acme", base_url="https://{resource}.acme.com/v1")

    assert covers(spec, "https://mine.acme.com/v1")
    assert not covers(spec, "https://thief.test/.acme.com/v1")
    assert not covers(spec, "https://a.b.acme.com/v1")


@pytest.mark.parametrize("base", ["https://{host}/v1", "https://{name}.com", "{everything}"])
def test_a_template_for_nearly_everything_stands_for_nothing(base: str) -> None:
    reach = allowed_hosts(provider("acme", base_url=base))

    assert (reach.origins, reach.patterns) == (frozenset(), ())


@pytest.mark.parametrize(
    ("data", "url"),
    [
        ({"baseUrl": "https://own.test/v1"}, "https://own.test/v1/chat"),
        ({"azureEndpoint": " https://own.test/ "}, "https://own.test/chat"),
        ({"baseUrl": "box:8000"}, "http://box:8000/v1"),
        ({"baseUrl": "box"}, "http://box:11434/v1"),
        ({"baseUrl": "http://0.0.0.0:8000"}, "http://127.0.0.1:8000/v1"),
        ({"baseUrl": ":8000"}, "http://127.0.0.1:8000/v1"),
        ({"baseUrl": "http://[::1]:8000/v1"}, "http://[::1]:8000/v1"),
    ],
)
def test_an_account_may_name_its_own_place(data: dict[str, str], url: str) -> None:
    assert is_named(parse(url), data)


@pytest.mark.parametrize(
    ("data", "url"),
    [
        ({}, "https://own.test/"),
        ({"baseUrl": "https://own.test/v1"}, "https://own.test.thief.test/"),
        ({"baseUrl": "https://own.test/v1"}, "http://own.test/"),
        ({"baseUrl": "https://own.test/v1"}, "https://own.test:8443/"),
        ({"baseUrl": "https://thief.test@own.test"}, "https://thief.test/"),
        ({"baseUrl": "box:8000"}, "http://box:9000/"),
        ({"baseUrl": "box"}, "http://box.thief.test/"),
        ({"region": "own.test"}, "https://own.test/"),
        ({"connectionProxyUrl": "http://own.test"}, "http://own.test/"),
        ({"limits": {"url": "https://own.test"}}, "https://own.test/"),
        ({"baseUrl": 7}, "https://own.test/"),
    ],
)
def test_an_account_names_nothing_else(data: dict[str, object], url: str) -> None:
    assert not is_named(parse(url), data)


@pytest.mark.parametrize("text", ["", "acme", "ftp://a.test", "https://", "https://a b.test/"])
def test_what_is_no_address_has_no_origin(text: str) -> None:
    assert origin_of(text) == ""
