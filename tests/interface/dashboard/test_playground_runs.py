"""The playground while a model answers: how fast it is, and how it is stopped."""

import asyncio
import re
from collections.abc import Iterator

import pytest
from dashboard_browser import CHUNK, PATIENCE_MS, USAGE, VARIABLES, Person, acme, answer
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from playwright.sync_api import Browser, expect
from served_gateway import Served, serve_gateway

PAUSE = 0.2
"""Seconds between the pieces of a vendor."""
PIECES = 5
TOKENS = 12
FACTS = re.compile(r"([\d.]+) (m?s) · 12 tokens · (\d+) tokens/s · first after ([\d.]+) (m?s)")


def slow_or_endless(received: ReceivedRequest) -> MockResponse:
    """A vendor that writes slowly; one of its models never ends."""
    if not received.body:
        return answer(received)
    piece = b"data: %s\n\n" % (CHUNK % (b"null", b""))
    if received.json()["model"] == "m-endless":
        return MockResponse.stream(piece, hang=True)
    last = b"data: %s\n\ndata: [DONE]\n\n" % (CHUNK % (b'"stop"', USAGE))
    return MockResponse.stream(*[piece] * PIECES, last, pause=PAUSE)


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    specs, scripts = acme, {"openai": slow_or_endless}
    with serve_gateway(folder, scripts, specs=specs, variables=VARIABLES) as running:
        yield running


def seconds(number: str, unit: str) -> float:
    return float(number) / (1000 if unit == "ms" else 1)


async def gone(vendor: FakeVendor, times: int) -> None:
    """Return once so many connections to a vendor were closed before their answer's end."""
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while vendor.gone < times:
            await asyncio.sleep(0.01)


def test_an_answer_shows_how_fast_it_came(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-slow")
    page.get_by_label("Write a message").fill("Slowly, please")
    page.keyboard.press("Enter")
    talk = page.get_by_role("log")
    expect(talk).to_contain_text(FACTS)
    found = FACTS.search(talk.inner_text())
    assert found is not None
    took, first = seconds(found[1], found[2]), seconds(found[4], found[5])

    # The shown times are rounded, to a tenth of a second where they are long.
    slowest, fastest = TOKENS / (took - first + 0.1), TOKENS / max(took - first - 0.1, 0.01)
    assert slowest - 1 <= int(found[3]) <= fastest + 1
    assert first < took
    assert took >= PAUSE * PIECES
    talk.get_by_role("link", name="Details").click()
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text(re.compile(r"^[\d.]+ tokens/s$"))).to_be_visible()
    row = here.rows()[0]
    assert (row.model_sent, row.status, row.output_tokens) == ("m-slow", "ok", TOKENS)


def test_a_running_stream_is_stopped_at_the_vendor(here: Served, someone: Person) -> None:
    vendor = here.vendors["openai"]
    before = vendor.gone
    page = someone.visit("playground?models=open/m-endless")
    page.get_by_label("Write a message").fill("Never end")
    page.keyboard.press("Enter")
    talk = page.get_by_role("log")
    expect(talk).to_contain_text("Hello from Acme")
    assert vendor.gone == before

    page.get_by_role("button", name="Stop").click()

    expect(talk).to_contain_text("Stopped")
    expect(talk).to_contain_text("Hello from Acme")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    talk.get_by_role("link", name="Details").click()
    expect(page.get_by_role("dialog").get_by_text("Client left")).to_be_visible()
    row = here.rows()[0]
    assert (row.model_sent, row.status, row.stream) == ("m-endless", "client_gone", True)
    here.do(gone(vendor, before + 1))


def test_after_a_stop_the_conversation_goes_on(here: Served, someone: Person) -> None:
    vendor = here.vendors["openai"]
    before = vendor.gone
    page = someone.visit("playground?models=open/m-endless")
    talk = page.get_by_role("log")
    for place, text in enumerate(("Never end", "Go on")):
        page.get_by_label("Write a message").fill(text)
        page.keyboard.press("Enter")
        expect(talk.get_by_text("Hello from Acme")).to_have_count(place + 1)
        page.get_by_role("button", name="Stop").click()
        expect(talk.get_by_text("Stopped")).to_be_visible()

    here.do(gone(vendor, before + 2))
    assert [each.json() for each in vendor.received if each.body][-1]["messages"] == [
        {"role": "user", "content": "Never end"},
        {"role": "assistant", "content": "Hello from Acme"},
        {"role": "user", "content": "Go on"},
    ]
