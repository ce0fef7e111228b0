"""A large gateway: thousands of models and calls are few rows in the page."""

from collections.abc import Iterator

import pytest
from dashboard_browser import PATIENCE_MS, VARIABLES, Person, answer, person
from playwright.sync_api import Browser, Locator, Page, expect
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.usage import UsageRecord

MODELS = 5_000
CALLS = 100_000
PIECE = 10_000
MOST_ROWS = 100
"""Elements that a table may have for its rows at a time."""


@pytest.fixture(scope="module")
def large(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    models = tuple(Model(f"m-{number}") for number in range(MODELS))
    with serve_gateway(
        tmp_path_factory.mktemp("data"),
        {"openai": answer},
        specs=lambda vendors: [
            keyless_provider("openai", vendors["openai"], id="open", name="Open", models=models)
        ],
        variables=VARIABLES,
    ) as here:
        fill_ledger(here)
        yield here


@pytest.fixture
def page(browser: Browser, large: Served) -> Iterator[Person]:
    with person(browser, large) as someone:
        yield someone


def fill_ledger(here: Served) -> None:
    now = here.gateway.core.clock()
    records = [
        UsageRecord(
            request_id=f"r-{number}",
            started_at=iso(now - CALLS + number),
            finished_at=iso(now - CALLS + number),
            model_asked="open/m-1",
            model_sent=f"m-{number}",
            provider="open",
            endpoint="/v1/chat/completions",
            day=iso(now - CALLS + number)[:10],
        )
        for number in range(CALLS)
    ]
    for start in range(0, CALLS, PIECE):
        here.do(here.gateway.core.stores.usage.insert_many(records[start : start + PIECE]))


def scroll(table: Locator, part: float) -> None:
    table.evaluate("(each, part) => each.scrollTo(0, each.scrollHeight * part)", part)


def rows_of(page: Page, name: str) -> tuple[Locator, Locator]:
    table = page.get_by_role("table", name=name)
    return table, table.get_by_role("row")


def test_a_hundred_thousand_calls_are_few_rows(page: Person) -> None:
    table, rows = rows_of(page.visit("requests?period=all"), "Requests")
    # The sums follow the ledger at their first reading, here for all rows at once.
    expect(page.page.get_by_text("100,000 requests")).to_be_visible(timeout=60_000)
    expect(table).to_have_attribute("aria-rowcount", str(CALLS + 1))
    assert rows.count() < MOST_ROWS

    scroll(table, 0.5)
    expect(table.get_by_text("m-49990", exact=True)).to_be_attached(timeout=PATIENCE_MS)
    scroll(table, 1)
    expect(table.get_by_text("m-0", exact=True)).to_be_attached(timeout=PATIENCE_MS)
    assert rows.count() < MOST_ROWS


def test_five_thousand_models_are_few_rows(page: Person) -> None:
    table, rows = rows_of(page.visit("models?provider=open"), "Models")
    expect(table).to_have_attribute("aria-rowcount", str(MODELS + 1))
    assert rows.count() < MOST_ROWS

    scroll(table, 1)
    expect(table.get_by_text(f"open/m-{MODELS - 1}", exact=True)).to_be_attached()
    assert rows.count() < MOST_ROWS
    page.page.get_by_label("Model, name or alias").fill("m-4321")
    expect(rows).to_have_count(2)


def test_five_thousand_models_are_few_choices(page: Person) -> None:
    tab = page.visit("playground")
    tab.get_by_role("combobox", name="Model").or_(tab.get_by_label("Model")).first.click()

    options = tab.get_by_role("option")
    expect(options.first).to_be_visible()
    assert options.count() < MOST_ROWS
