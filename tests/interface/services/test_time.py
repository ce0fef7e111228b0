"""How long the requests of a service may take, and who says so."""

from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import Auth, Kind, Model, ProviderSpec, Service
from gateway_providers import openai_compatible
from gateway_providers.services import JsonService, fetch_model

PAGE = "https://example.com/reefs"
SHORT = 0.1


def never(received: ReceivedRequest) -> MockResponse:
    return MockResponse.stream(hang=True, content_type="application/json")


def specs(vendor: FakeVendor) -> list[ProviderSpec]:
    def fetching(id: str, timeout: float | None) -> ProviderSpec:
        service = JsonService(
            path="/fetch", write=lambda q: q.members, read=lambda q, answer: answer
        )
        return ProviderSpec(
            id=id,
            name=id,
            base_url=vendor.url,
            auth=Auth(type="none"),
            models=(fetch_model(0.0),),
            services=(Service(Kind.FETCH, service, timeout=timeout),),
        )

    films = ProviderSpec(
        id="films",
        name="Films",
        base_url=vendor.url,
        auth=Auth(type="none"),
        models=(Model("film-1", kind=Kind.VIDEO),),
    )
    words = ("video/generations", "video/status")
    return [
        openai_compatible(films, services=words),
        fetching("usual", None),
        fetching("own", SHORT),
    ]


def serve(connected: Any, script: Any, **variables: str) -> Served:
    here: Served = connected(script, specs=specs, accounts=(), variables=variables)
    return here


def test_a_video_request_whose_time_is_up_is_a_408(connected: Any, http: httpx2.Client) -> None:
    here = serve(connected, never, VIDEO_FETCH_TIMEOUT_MS="100")
    body = {"model": "films/film-1", "prompt": "a reef"}

    made = http.post(f"{here.url}/v1/videos/generations", json=body)
    polled = http.get(f"{here.url}/v1/videos/job-1", headers={"x-connection-id": "films:public"})

    assert (made.status_code, polled.status_code) == (408, 408)
    assert made.json()["error"]["code"] == "request_timeout"
    # It may have been submitted, so it is not submitted again.
    assert len(here.vendors["vendor"].received) == 2


def test_a_video_request_that_cannot_be_sent_is_a_502(connected: Any, http: httpx2.Client) -> None:
    here = serve(
        connected, lambda received: MockResponse.stream(cut=True, content_type="application/json")
    )
    body = {"model": "films/film-1", "prompt": "a reef"}

    found = http.post(f"{here.url}/v1/videos/generations", json=body)

    assert found.status_code == 502


def test_fetching_has_the_operators_time(connected: Any, http: httpx2.Client) -> None:
    here = serve(connected, never, FIRECRAWL_TIMEOUT_MS="100")

    found = http.post(f"{here.url}/v1/web/fetch", json={"model": "usual", "url": PAGE})

    assert found.status_code == 504


def test_fetching_has_a_vendors_own_time_where_nothing_is_set(
    connected: Any, http: httpx2.Client
) -> None:
    here = serve(connected, never)

    found = http.post(f"{here.url}/v1/web/fetch", json={"model": "own", "url": PAGE})

    assert found.status_code == 504


def test_the_operators_time_goes_before_a_vendors(connected: Any, http: httpx2.Client) -> None:
    def late(received: ReceivedRequest) -> MockResponse:
        return MockResponse((b'{"text":"# Reefs"}',), delay=4 * SHORT)

    here = serve(connected, late, FIRECRAWL_TIMEOUT_MS="20000")

    found = http.post(f"{here.url}/v1/web/fetch", json={"model": "own", "url": PAGE})

    assert found.status_code == 200


@pytest.mark.parametrize(
    ("variables", "body", "format"),
    [
        ({}, {}, "markdown"),
        ({"FIRECRAWL_DEFAULT_FORMAT": "html"}, {}, "html"),
        ({"FIRECRAWL_DEFAULT_FORMAT": "html"}, {"format": "text"}, "text"),
    ],
)
def test_a_page_has_the_operators_format_where_the_client_names_none(
    connected: Any, http: httpx2.Client, variables: Any, body: Any, format: str
) -> None:
    here = serve(connected, lambda received: MockResponse((b'{"text":"Reefs"}',)), **variables)

    found = http.post(f"{here.url}/v1/web/fetch", json={"model": "usual", "url": PAGE, **body})

    assert here.vendors["vendor"].received[-1].json()["format"] == format
    assert found.json()["content"]["format"] == format


@pytest.mark.parametrize("name", ["FIRECRAWL_TIMEOUT_MS", "FIRECRAWL_DEFAULT_FORMAT"])
def test_a_variable_that_makes_no_sense_is_a_problem_of_the_plugin(
    connected: Any, name: str
) -> None:
    here = serve(connected, never, **{name: "nonsense"})

    problems = here.gateway.core.snapshot.registry.problems
    [problem] = [each for each in problems if each.plugin == "services"]
    assert f"the variable {name} is left out" in problem.message


def test_speech_of_the_generative_vendor_has_its_own_time(
    connected: Any, http: httpx2.Client
) -> None:
    here: Served = connected(
        never, "gemini", variables={"GEMINI_NATIVE_TTS_FETCH_TIMEOUT_MS": "100"}
    )
    body = {"model": "gemini/gemini-2.5-flash-preview-tts", "input": "hi"}

    found = http.post(f"{here.url}/v1/audio/speech", json=body)

    assert found.status_code == 504
