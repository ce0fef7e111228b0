"""Every page: no serious fault in either scheme, fits a phone, and is no blank on a bad day."""

import re
from collections.abc import Iterator

import pytest
from dashboard_browser import (
    DESKTOP,
    PATHS,
    PHONE,
    READING,
    Person,
    ask,
    person,
    serious_faults,
)
from playwright.sync_api import Browser, Page, Route, expect
from served_gateway import Served

API = re.compile(r"/(api|v1)/(?!auth/status|auth/login)")
"""What pages ask for, but who is signed in."""
BUDGET = 200_000
"""Bytes of the first load as they are sent, for an overview with charts."""


@pytest.fixture(scope="module")
def visitor(browser: Browser, shared: Served) -> Iterator[Person]:
    """Looks at pages, and changes nothing but the width and the colours."""
    with person(browser, shared) as someone:
        yield someone


@pytest.fixture
def page(visitor: Person) -> Iterator[Page]:
    """The visitor's tab, as it is at first."""
    yield visitor.page
    visitor.page.unroute_all(behavior="ignoreErrors")
    visitor.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    visitor.page.emulate_media(color_scheme="light")


def test_the_pages_are_found() -> None:
    assert len(PATHS) >= 5


@pytest.mark.parametrize("path", PATHS)
def test_nothing_keeps_people_out(visitor: Person, page: Page, path: str) -> None:
    visitor.visit(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    faults = serious_faults(page)
    page.emulate_media(color_scheme="dark")
    visitor.visit(path)
    expect(page.locator("html[data-mantine-color-scheme=dark]")).to_be_attached()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    faults += [f"dark: {each}" for each in serious_faults(page)]
    assert not faults, "\n".join(faults)

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=PHONE[0])


@pytest.mark.parametrize("path", READING)
def test_a_slow_gateway_leaves_no_page_blank(visitor: Person, page: Page, path: str) -> None:
    waiting: list[Route] = []
    page.route(API, lambda route: waiting.append(route))
    visitor.visit(path)
    while not waiting:
        page.wait_for_timeout(20)

    expect(page.get_by_role("link", name="Requests", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    main = page.get_by_role("main")
    expect(main.locator("[aria-busy=true], .mantine-Skeleton-root").first).to_be_visible()
    assert main.inner_text().strip()

    page.unroute(API)  # lets those go that wait
    expect(main.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)


@pytest.mark.parametrize("path", READING)
def test_a_failing_gateway_is_shown_on_the_page(visitor: Person, page: Page, path: str) -> None:
    broken = {"error": "The ledger is broken", "request_id": "r-1"}
    page.route(API, lambda route: route.fulfill(status=500, json=broken))
    visitor.visit(path)

    main = page.get_by_role("main")
    expect(main.get_by_role("heading", level=1)).to_be_visible()
    expect(main.get_by_text("The ledger is broken").first).to_be_visible()
    expect(main.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)


def test_the_first_load_is_small(browser: Browser, shared: Served) -> None:
    ask(shared, "open/m-1")
    shared.rows()
    with person(browser, shared) as someone:
        page = someone.visit("overview")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        expect(page.locator("figure path").first).to_be_visible()
        expect(page.get_by_role("table", name="Busiest").get_by_role("row")).to_have_count(2)
        page.wait_for_load_state("networkidle")

        sizes = page.evaluate(
            "['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type))"
            ".filter(each => new URL(each.name).pathname.startsWith('/dashboard'))"
            ".map(each => [each.name, each.encodedBodySize])"
        )
    assert sum(size for _, size in sizes) <= BUDGET, sizes


def test_the_first_questions_are_asked_before_the_application_is_there(
    browser: Browser, shared: Served
) -> None:
    """And once: the application takes the answers."""
    ask(shared, "open/m-1")
    shared.rows()
    with person(browser, shared) as someone:
        page = someone.visit("overview")
        expect(page.locator("figure path").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        entries = page.evaluate(
            "performance.getEntriesByType('resource')"
            ".map(({ name, initiatorType, startTime }) => [name, initiatorType, startTime])"
        )
        applied = page.evaluate(
            "performance.getEntriesByType('paint')"
            ".find(({ name }) => name === 'first-contentful-paint').startTime"
        )
    asked = [(name, at) for name, kind, at in entries if kind == "fetch"]
    early = {name for name, at in asked if at < applied}
    late = [name for name, at in asked if at >= applied]

    assert len(early) == 8, asked
    assert len(asked) == len({name for name, _ in asked}), asked
    # Where the period before begins is known when the period is.
    assert all("/api/usage/series?startDate=" in name for name in late), late


def test_charts_are_read_by_the_keyboard(browser: Browser, shared: Served) -> None:
    ask(shared, "open/m-1")
    shared.rows()
    with person(browser, shared) as someone:
        page = someone.visit("overview")
        chart = page.get_by_role("figure", name="Requests")
        expect(chart).to_be_visible()
        chart.focus()
        page.keyboard.press("End")
        expect(chart.locator("[aria-live]")).to_contain_text("m-1")
        page.keyboard.press("Escape")
        expect(chart.locator("[aria-live]")).to_be_empty()
