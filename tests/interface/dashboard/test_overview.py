"""The overview: figures of what went through, what goes on now, and who does not answer."""

import re
from collections.abc import Iterator

import pytest
from dashboard_browser import PHONE, VARIABLES, Person, acme, answer, ask
from fake_vendor import MockResponse, ReceivedRequest
from playwright.sync_api import Browser, expect
from served_gateway import Served, serve_gateway

from gateway_core.storage.moments import iso
from gateway_core.storage.stores.usage import UsageRecord

HOUR = 3600
TIRED = b'{"error":{"message":"Acme is tired","type":"rate_limit_error"}}'


def tired_or_not(received: ReceivedRequest) -> MockResponse:
    """Acme's answer, but that one key is used up."""
    if received.headers.get("authorization") == "Bearer sk-tired":
        return MockResponse((TIRED,), status=429, headers={"retry-after": "120"})
    return answer(received)


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(
        folder, {"openai": tired_or_not}, specs=acme, variables=VARIABLES
    ) as running:
        yield running


def test_figures_follow_the_calls(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/providers", {"provider": "acme", "name": "main", "apiKey": "sk-1"})
    page = someone.visit("overview")
    expect(page.get_by_text("No request yet")).to_be_visible()

    ask(here, "acme/large")
    ask(here, "acme/large")

    newest = page.get_by_text("Newest calls").locator("xpath=following-sibling::ul")
    expect(newest.get_by_role("listitem")).to_have_count(2)
    page.reload()
    # Two calls with 30 tokens at $3 and 12 at $15 a million.
    expect(page.get_by_text("$0.00054").first).to_be_visible()
    busiest = page.get_by_role("table", name="Busiest")
    expect(busiest.get_by_role("row").nth(1)).to_contain_text("large")
    busiest.get_by_role("row").nth(1).click()
    expect(page.get_by_role("table", name="Requests").get_by_role("row")).to_have_count(3)
    assert "model=large" in page.url


def test_the_period_is_in_the_address(someone: Person) -> None:
    page = someone.visit("overview?period=7d&by=provider")
    expect(page.get_by_role("radio", name="7 days")).to_be_checked()
    expect(
        page.get_by_role("combobox", name="By").or_(page.get_by_label("By", exact=True)).first
    ).to_have_value("Provider")

    page.get_by_text("30 days").click()

    expect(page.get_by_role("radio", name="30 days")).to_be_checked()
    assert "period=30d" in page.url


def test_every_page_is_reached_by_the_palette(someone: Person) -> None:
    page = someone.visit("overview")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("textbox", name="Search or jump to").fill("accounts")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Providers", exact=True)).to_be_visible()


def test_figures_are_compared_with_the_period_before(here: Served, someone: Person) -> None:
    now = here.gateway.core.clock()
    at = iso(now - 30 * HOUR)
    earlier = UsageRecord(
        request_id="before",
        started_at=at,
        finished_at=at,
        model_asked="open/m-1",
        model_sent="m-1",
        provider="open",
        endpoint="/v1/chat/completions",
        day=at[:10],
    )
    here.do(here.gateway.core.stores.usage.insert_many([earlier]))
    ask(here, "open/m-1")
    ask(here, "open/m-1")
    here.rows()
    total = someone.call("GET", "/api/usage/series?period=24h")["total"]["requests"]
    someone.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page = someone.visit("overview")
    main = page.get_by_role("main")

    expect(main.get_by_text(f"{(total - 1) * 100}%")).to_be_visible()
    expect(main.get_by_role("img", name="up").first).to_be_visible()
    expect(page.get_by_role("figure", name="Latency")).to_contain_text("p95 before")
    main.get_by_role("switch", name="Compare with the period before").click()
    expect(main.get_by_role("img", name="up")).to_have_count(0)
    assert "compare=no" in page.url


def test_a_resting_account_is_in_sight_until_its_rest_is_ended(
    here: Served, someone: Person
) -> None:
    tired = {"provider": "acme", "name": "tired", "apiKey": "sk-tired"}
    someone.call("POST", "/api/providers", tired)
    ask(here, "acme/large")
    page = someone.visit("overview")

    strip = page.get_by_role("list", name="Accounts")
    expect(strip).to_contain_text("In part until")
    strip.get_by_role("link", name="Acme").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(
        re.compile(r"large rests until [\d:]+: .*Acme is tired")
    )
    strip.get_by_role("link", name="Acme").click()
    table = page.get_by_role("table", name="Accounts")
    expect(table.get_by_role("row")).to_have_count(2)
    page.get_by_role("button", name="More: tired").click()
    page.get_by_role("menuitem", name="End the rest").click()

    expect(table).not_to_contain_text("until")
    assert someone.call("GET", "/api/models/availability")["models"] == []
    page.goto(f"{someone.url}/dashboard/overview")
    expect(strip.get_by_role("img", name="Answers")).to_be_visible()
