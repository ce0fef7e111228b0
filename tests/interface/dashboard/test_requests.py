"""The page of requests: live, filtered by its address, each call with its contents."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from dashboard_browser import Person, answer
from fake_vendor import MockResponse
from playwright.sync_api import expect
from served_gateway import Served


def ask(here: Served, model: str, text: str = "Hello", **more: object) -> str:
    """Call a model; gives the request's id."""
    body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    url = f"{here.url}/v1/chat/completions"
    answer = httpx2.post(url, json=body, trust_env=False, timeout=30)
    return str(answer.headers["x-request-id"])


def test_a_call_shows_up_while_the_page_is_open(here: Served, someone: Person) -> None:
    page = someone.visit("requests?model=m-live")
    expect(page.get_by_text("No request matches")).to_be_visible()

    ask(here, "open/m-live")

    rows = page.get_by_role("table", name="Requests").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("m-live")
    expect(rows.nth(1)).to_contain_text("30 → 12")
    expect(page.get_by_text("1 requests", exact=True)).to_be_visible()


def test_filters_are_in_the_address(here: Served, someone: Person) -> None:
    ask(here, "open/m-plain")
    ask(here, "open/m-filtered")
    page = someone.visit("requests?model=m-filtered")
    rows = page.get_by_role("table", name="Requests").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("m-filtered")

    page.get_by_role("button", name="Clear filters").click()

    expect(rows.filter(has_text="m-plain")).to_have_count(1)
    assert "model=" not in page.url


@pytest.fixture
def keeping(someone: Person) -> Iterator[None]:
    """Conversations are kept."""
    someone.call("PATCH", "/api/settings", {"enableObservability": True})
    someone.call("PATCH", "/api/settings", {"observabilityBatchSize": 1})
    yield
    someone.call("PATCH", "/api/settings", {"enableObservability": False})


@pytest.mark.usefixtures("keeping")
def test_a_call_shows_its_conversation_and_goes_to_the_playground(
    here: Served, someone: Person
) -> None:
    ask(here, "open/m-1", "What is kept?", stream=True)
    page = someone.visit("requests")
    page.get_by_role("table", name="Requests").get_by_role("row").nth(1).click()
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text("One attempt")).to_be_visible()
    sheet.get_by_role("tab", name="Conversation").click()

    expect(sheet.get_by_text("What is kept?")).to_be_visible()
    expect(sheet.get_by_text("Hello from Acme")).to_be_visible()
    sheet.get_by_role("button", name="Open in playground").click()
    expect(page.get_by_role("heading", name="Playground")).to_be_visible()
    expect(page.get_by_role("log").get_by_text("What is kept?")).to_be_visible()


def test_a_call_that_went_from_vendor_to_vendor_shows_each_attempt(
    own: Served, owner: Person
) -> None:
    refusal = MockResponse((b'{"error":{"message":"the first vendor is full"}}',), status=503)
    own.vendors["openai"].script = lambda received: (
        refusal if received.json()["model"] == "m-1" else answer(received)
    )
    combo = {"name": "both", "models": ["open/m-1", "open/m-2"]}
    owner.call("POST", "/api/combos", combo)
    request = ask(own, "both")

    page = owner.visit(f"requests?request={request}")

    course = page.get_by_role("dialog").get_by_role("list", name="Course")
    expect(course.get_by_role("listitem")).to_have_count(2)
    expect(course.get_by_role("listitem").first).to_contain_text("m-1")
    expect(course.get_by_role("listitem").first).to_contain_text("503")
    expect(course.get_by_role("listitem").first).to_contain_text("the first vendor is full")
    expect(course.get_by_role("listitem").last).to_contain_text("m-2")
    expect(course).to_contain_text("2 attempts")


def test_without_keeping_the_sheet_says_so(here: Served, someone: Person) -> None:
    request = ask(here, "open/m-1")
    page = someone.visit(f"requests?request={request}")
    sheet = page.get_by_role("dialog")
    sheet.get_by_role("tab", name="Conversation").click()

    expect(sheet.get_by_text("not kept").first).to_be_visible()
    expect(sheet.get_by_role("button", name="Copy as curl")).to_be_hidden()


def test_a_failing_api_is_shown_where_it_failed(here: Served, someone: Person) -> None:
    page = someone.page
    page.route(
        "**/api/usage/history*",
        lambda route: route.fulfill(status=500, json={"error": "Broken", "request_id": "r-1"}),
    )
    someone.visit("requests")

    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Broken")
    expect(alert).to_contain_text("r-1")
    page.unroute("**/api/usage/history*")
    ask(here, "open/m-1")
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("table", name="Requests").get_by_role("row").nth(1)).to_contain_text(
        "m-1"
    )


def test_a_bar_of_the_histogram_leads_to_its_calls(here: Served, someone: Person) -> None:
    ask(here, "open/m-1")
    here.rows()
    page = someone.visit("requests")
    bars = page.get_by_role("figure", name="Requests over time").locator("[data-choosing]")
    box = bars.bounding_box()
    assert box is not None
    bars.click(position={"x": box["width"] - 4, "y": 8})

    expect(page.get_by_role("button", name=re.compile(r"^\d{4}-\d\d-\d\d"))).to_be_visible()
    assert "period=custom" in page.url
    rows = page.get_by_role("table", name="Requests").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("m-1")
