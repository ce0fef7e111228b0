"""Calls without a known price are counted as such where costs are shown."""

import httpx2
from dashboard_browser import Person
from playwright.sync_api import Locator, Page, expect
from served_gateway import Served


def call(here: Served, model: str, times: int) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(times):
        url = f"{here.url}/v1/chat/completions"
        answer = httpx2.post(url, json=body, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text


def card(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("group", name="Without a price")


def test_the_share_of_calls_without_a_price_is_shown(own: Served, owner: Person) -> None:
    owner.call("POST", "/api/providers", {"provider": "acme", "name": "main", "apiKey": "sk-1"})
    call(own, "acme/large", 3)
    page = owner.visit("usage")
    expect(card(page)).to_contain_text("Every call has a price.")

    call(own, "open/m-1", 1)
    page.reload()
    expect(card(page)).to_contain_text("25% of the calls")
    expect(card(page)).to_contain_text("1")
    # Three calls with 30 tokens at $3 and 12 at $15 a million; the fourth counts as free.
    row = page.get_by_role("table", name="Usage and cost").get_by_role("row")
    expect(row.filter(has_text="m-1")).to_contain_text("$0")
    expect(row.filter(has_text="large")).to_contain_text("$0.00081")
    page.goto(f"{owner.url}/dashboard/overview")
    expect(page.get_by_text("without 1 calls that have no price")).to_be_visible()
    # Millionths of a dollar.
    assert [row.cost for row in own.rows()] == [None, 270, 270, 270]
