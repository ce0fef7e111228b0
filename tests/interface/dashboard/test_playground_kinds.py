"""The playground for work other than chat: it is done, shown, booked, and given as code."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from dashboard_browser import DOT, VARIABLES, Person, last_call
from fake_vendor import MockResponse, ReceivedRequest
from playwright.sync_api import Browser, Locator, Page, expect
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Auth, Kind, Model, ProviderSpec, Service
from gateway_providers import openai_compatible
from gateway_providers.services import JsonService, Question, search_model

KINDS = (Kind.EMBEDDING, Kind.IMAGE, Kind.SPEECH, Kind.TRANSCRIPTION)
ANSWERS = {
    "/v1/models": {"object": "list", "data": [{"id": f"m-{kind}"} for kind in KINDS]},
    "/v1/embeddings": {
        "object": "list",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [1, 0, 0]},
            {"object": "embedding", "index": 1, "embedding": [0.6, 0.8, 0]},
        ],
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    },
    "/v1/images/generations": {
        "created": 1,
        "data": [{"b64_json": DOT}],
    },
    "/search": {
        "results": [
            {"title": "Gulls", "url": "https://birds.example/gulls", "snippet": "Loud birds."},
            {"title": "A trap", "url": "javascript:alert(1)", "snippet": "Nothing to click."},
        ],
        "answer": "Gulls are seabirds.",
    },
    "/v1/audio/transcriptions": {"text": "Gulls are loud."},
}
SOUND = b"ID3" + b"\0" * 200


def work(received: ReceivedRequest) -> MockResponse:
    if received.path == "/v1/audio/speech":
        return MockResponse((SOUND,), headers={"content-type": "audio/mpeg"})
    return MockResponse((json.dumps(ANSWERS[received.path]).encode(),))


def maker(vendors: Any) -> list[ProviderSpec]:
    models = tuple(Model(f"m-{kind}", kind=kind) for kind in KINDS)
    base = f"{vendors['maker'].url}/v1"
    spec = keyless_provider("openai", vendors["maker"], id="maker", models=models, base_url=base)
    return [openai_compatible(spec, services=KINDS), finder(vendors["maker"].url)]


def finder(url: str) -> ProviderSpec:
    """A vendor of web search, whose results are as programs get them."""

    def write(question: Question) -> Any:
        return {"query": question.members["query"]}

    def read(question: Question, answer: Any) -> Any:
        return answer

    return ProviderSpec(
        id="finder",
        name="Finder",
        base_url=url,
        auth=Auth(type="none"),
        models=(search_model(0.001),),
        services=(Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read)),),
    )


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"maker": work}, specs=maker, variables=VARIABLES) as running:
        yield running


def opened(someone: Person, mode: str, kind: Kind) -> Page:
    """The form of one kind of work, with the vendor's model."""
    page = someone.visit(f"playground?mode={mode}")
    model = page.get_by_role("combobox", name="Model")
    model.fill(f"m-{kind}")
    page.get_by_role("option", name=f"maker/m-{kind}").click()
    return page


def run(page: Page) -> None:
    page.get_by_role("button", name="Run").click()


def code(page: Page) -> Locator:
    return page.locator("pre").last


def booked(here: Served, path: str) -> bool:
    """Whether the newest call is one of the playground to this endpoint."""
    row = here.rows()[0]
    return row.endpoint == path and (row.api_key_id or "").startswith("playground:")


def test_vectors_are_compared(here: Served, someone: Person) -> None:
    page = opened(someone, "embeddings", Kind.EMBEDDING)
    page.get_by_label("Text").fill("gull\nkittiwake")
    run(page)

    expect(page.get_by_text("3 numbers")).to_be_visible()
    expect(page.get_by_role("row", name="gull")).to_contain_text("0.600")
    expect(code(page)).to_contain_text('"kittiwake"')
    assert last_call(here, "maker").json()["input"] == ["gull", "kittiwake"]
    assert booked(here, "/v1/embeddings")


def test_a_picture_is_shown(here: Served, someone: Person) -> None:
    page = opened(someone, "images", Kind.IMAGE)
    page.get_by_label("Write a message").fill("a gull on a cliff")
    run(page)

    picture = page.get_by_role("img", name="a gull on a cliff")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    expect(code(page)).to_contain_text("/v1/images/generations")
    assert booked(here, "/v1/images/generations")


def test_speech_can_be_played(here: Served, someone: Person) -> None:
    page = opened(someone, "speech", Kind.SPEECH)
    page.get_by_label("Text").fill("Gulls are loud.")
    run(page)

    expect(page.locator("audio")).to_have_attribute("src", re.compile("^blob:"))
    assert last_call(here, "maker").json()["input"] == "Gulls are loud."
    assert booked(here, "/v1/audio/speech")


def test_a_recording_becomes_text(here: Served, someone: Person) -> None:
    page = opened(someone, "transcription", Kind.TRANSCRIPTION)
    recording: Any = {"name": "gulls.mp3", "mimeType": "audio/mpeg", "buffer": SOUND}
    page.locator("input[type=file]").set_input_files(recording)
    run(page)

    expect(page.get_by_text("Gulls are loud.")).to_be_visible()
    assert SOUND in last_call(here, "maker").body
    assert booked(here, "/v1/audio/transcriptions")


def test_what_a_search_finds_is_a_list_of_links(here: Served, someone: Person) -> None:
    page = someone.visit("playground?mode=search")
    model = page.get_by_role("combobox", name="Model")
    model.fill("finder")
    page.get_by_role("option", name="finder/").first.click()
    page.get_by_label("Query").fill("loud birds")
    run(page)

    found = page.get_by_role("list", name="Results").get_by_role("listitem")
    expect(found).to_have_count(2)
    expect(page.get_by_text("Gulls are seabirds.")).to_be_visible()
    link = found.nth(0).get_by_role("link", name="Gulls")
    expect(link).to_have_attribute("href", "https://birds.example/gulls")
    expect(found.nth(1).get_by_role("link")).to_have_count(0)
    expect(code(page)).to_contain_text("loud birds")
    assert last_call(here, "maker").json() == {"query": "loud birds"}
    assert booked(here, "/v1/search")
