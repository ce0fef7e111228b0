"""The overview by key and by combo, and its figures while calls come."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from dashboard_browser import CHUNK, VARIABLES, Person, acme, answer, ask
from fake_vendor import MockResponse, ReceivedRequest
from playwright.sync_api import Browser, Page, expect
from served_gateway import Served, serve_gateway

URL = "/v1/chat/completions"


def held_or_not(received: ReceivedRequest) -> MockResponse:
    """Acme's answer, but that one model begins and does not end."""
    if received.body and received.json().get("model") == "m-held":
        piece = b"data: %s\n\n" % (CHUNK % (b"null", b""))
        return MockResponse.stream(piece, hang=True)
    return answer(received)


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": held_or_not}, specs=acme, variables=VARIABLES) as running:
        yield running


@pytest.fixture
def own(browser: Browser, tmp_path: Path) -> Iterator[Served]:
    with serve_gateway(
        tmp_path, {"openai": held_or_not}, specs=acme, variables=VARIABLES
    ) as running:
        yield running


@contextmanager
def held_call(here: Served) -> Iterator[None]:
    """A stream that is under way until the block ends."""
    messages = [{"role": "user", "content": "Hello"}]
    body = {"model": "open/m-held", "messages": messages, "stream": True}
    with httpx2.stream("POST", here.url + URL, json=body, trust_env=False, timeout=30) as response:
        pieces = response.iter_raw()
        assert next(pieces)
        yield
        # An iterator that is no longer referred to closes the connection.
        del pieces


def make_key(someone: Person, name: str) -> str:
    key: str = someone.call("POST", "/api/keys", {"name": name, "machineId": "any"})["key"]
    return key


def ask_with(here: Served, key: str, model: str) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"authorization": f"Bearer {key}"}
    url = here.url + URL
    answer = httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=30)
    assert answer.status_code == 200, answer.text


def group_by(page: Page, name: str) -> None:
    page.get_by_role("combobox", name="By").or_(page.get_by_label("By", exact=True)).first.click()
    page.get_by_role("option", name=name, exact=True).click()


def requests_of(page: Page, name: str) -> None:
    """Follow a row of the busiest to its requests."""
    page.get_by_role("table", name="Busiest").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()


def test_figures_are_grouped_by_key_and_lead_to_its_calls(here: Served, someone: Person) -> None:
    laptop, robot = make_key(someone, "laptop"), make_key(someone, "robot")
    for _ in range(3):
        ask_with(here, robot, "open/m-robot")
    ask_with(here, laptop, "open/m-laptop")
    page = someone.visit("overview")
    group_by(page, "Key")

    rows = page.get_by_role("table", name="Busiest").get_by_role("row")
    expect(rows.nth(0)).to_contain_text("Key")
    expect(rows.filter(has_text="robot").get_by_role("cell").nth(1)).to_have_text("3")
    expect(rows.filter(has_text="laptop").get_by_role("cell").nth(1)).to_have_text("1")
    expect(page.get_by_role("figure", name="Requests")).to_contain_text("robot")
    requests_of(page, "robot")
    calls = page.get_by_role("table", name="Requests").get_by_role("row")
    expect(calls).to_have_count(4)
    expect(calls.filter(has_text="m-robot")).to_have_count(3)
    assert "by=apiKey" not in page.url


def test_figures_are_grouped_by_combo_and_lead_to_its_calls(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/combos", {"name": "quick", "models": ["open/m-1", "open/m-2"]})
    ask(here, "quick")
    ask(here, "quick")
    ask(here, "open/m-alone")
    page = someone.visit("overview?by=combo")

    row = page.get_by_role("table", name="Busiest").get_by_role("row").filter(has_text="quick")
    expect(row.get_by_role("cell").nth(1)).to_have_text("2")
    expect(page.get_by_role("figure", name="Requests")).to_contain_text("quick")
    requests_of(page, "quick")
    calls = page.get_by_role("table", name="Requests").get_by_role("row")
    expect(calls).to_have_count(3)
    expect(calls.filter(has_text="m-alone")).to_have_count(0)


def test_counters_and_figures_move_while_the_page_is_open(own: Served, owner: Person) -> None:
    """Without a reload: a mark in the page outlives all that happens."""
    ask(own, "open/m-1")
    page = owner.visit("overview")
    heading = page.get_by_role("heading", name="Now", exact=True)
    now = page.locator("section").filter(has=heading)
    counter = now.get_by_text("Under way").locator("xpath=following-sibling::*")
    figure = page.get_by_role("main").get_by_role("group", name="Requests")
    expect(now).to_contain_text("Last ten minutes: 1")
    expect(counter).to_have_text("0")
    page.evaluate("window.mark = 1")

    with held_call(own):
        expect(counter).to_have_text("1")
        expect(now).to_contain_text("Open / m-held × 1")
    expect(counter).to_have_text("0")
    expect(now).to_contain_text("Last ten minutes: 2")
    ask(own, "open/m-1")
    expect(now).to_contain_text("Last ten minutes: 3")
    expect(figure).to_contain_text("3")

    assert page.evaluate("window.mark") == 1
    statuses = [row.status for row in own.rows()]
    assert statuses == ["ok", "client_gone", "ok"]
