"""The page of the database: a person moves to PostgreSQL and back, and sees what it costs."""

import re
from collections.abc import Callable

import pytest
from dashboard_browser import Person, serious_faults_in_both_schemes
from playwright.sync_api import Page, Route, expect
from postgres_servers import VERSIONS, empty_tables
from served_gateway import Served

BUSY = "[aria-busy=true], .mantine-Skeleton-root"


@pytest.fixture
def url(postgres: Callable[[str, str], str]) -> str:
    made = postgres(VERSIONS[-1], "dashboard")
    empty_tables(made, "migrations")
    return made


def opened(someone: Person) -> Page:
    """The page behind its password."""
    page = someone.visit("database")
    someone.repeat_password()
    expect(page.get_by_role("heading", name="In use")).to_be_visible()
    return page


def after_the_password(page: Page, handle: Callable[[Route], object]) -> None:
    """Hand over what the page asks for once it has tried the password."""
    passed: list[Route] = []

    def serve(route: Route) -> None:
        if passed:
            handle(route)
        else:
            passed.append(route)
            route.continue_()

    page.route(re.compile("/api/settings/database/"), serve)


def test_a_wrong_password_opens_nothing_and_ends_no_session(someone: Person) -> None:
    page = someone.visit("database")

    someone.repeat_password("guessed")

    expect(page.get_by_role("alert")).to_contain_text("That is not the password.")
    expect(page.get_by_role("heading", name="Database", level=1)).to_be_visible()
    assert someone.call("GET", "/api/auth/status")["authenticated"] is True


def test_a_slow_gateway_leaves_the_page_no_blank(someone: Person) -> None:
    page = someone.visit("database")
    waiting: list[Route] = []
    after_the_password(page, waiting.append)

    someone.repeat_password()
    # The form is busy too while the password is tried: first the page itself must have asked.
    while not waiting:
        page.wait_for_timeout(20)

    main = page.get_by_role("main")
    expect(main.locator(BUSY).first).to_be_visible()
    page.unroute_all()  # lets those go that wait
    expect(page.get_by_role("heading", name="In use")).to_be_visible()
    expect(main.locator(BUSY)).to_have_count(0)


def test_a_failing_gateway_is_shown_on_the_page(someone: Person) -> None:
    page = someone.visit("database")
    broken = {"error": "The disk is full", "request_id": "r-1"}
    after_the_password(page, lambda route: route.fulfill(status=500, json=broken))

    someone.repeat_password()

    alert = page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("The disk is full")
    expect(page.get_by_role("main").locator(BUSY)).to_have_count(0)
    page.unroute_all()
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="In use")).to_be_visible()


def test_a_server_that_is_not_there_is_said_where_it_was_tried(someone: Person) -> None:
    page = opened(someone)
    page.get_by_label("Address").fill("postgresql://gateway@127.0.0.1:9/nothing")

    page.get_by_role("button", name="Test the server").click()

    expect(page.get_by_role("alert")).to_be_visible()
    log = page.get_by_role("table", name="Log")
    expect(log.get_by_role("row", name="Test of a server")).to_contain_text("Failed")
    expect(page.get_by_role("button", name="Move now")).to_be_hidden()


def test_the_gateway_moves_to_postgresql_and_back(here: Served, someone: Person, url: str) -> None:
    someone.call("POST", "/api/combos", {"name": "before", "models": ["open/m-1"]})
    page = opened(someone)
    page.get_by_label("Address").fill(url)
    page.get_by_role("combobox", name="TLS").click()
    page.get_by_role("option", name="disable").click()
    page.get_by_role("button", name="Look what would be done").click()
    plan = page.get_by_role("group", name="What would be done")
    expect(plan.get_by_role("row", name="combos")).to_contain_text("1")
    assert here.gateway.core.stores.database.engine == "sqlite"
    assert serious_faults_in_both_schemes(page) == []

    page.get_by_role("button", name="Move now").click()
    page.get_by_role("dialog").get_by_role("button", name="Move now").click()

    expect(page.get_by_role("status")).to_contain_text("PostgreSQL is served now")
    assert here.gateway.core.stores.database.engine == "postgres"
    expect(page.get_by_role("heading", name="Go back to SQLite")).to_be_visible()
    log = page.get_by_role("table", name="Log")
    expect(log.get_by_role("row", name="Move to PostgreSQL")).to_contain_text("Done")
    someone.call("POST", "/api/combos", {"name": "after", "models": ["open/m-1"]})

    page.get_by_role("button", name="Go back").click()
    asked = page.get_by_role("dialog", name="Go back to SQLite?")
    expect(asked).to_contain_text("Everything that was written since the cutover is discarded")
    confirm = asked.get_by_role("button", name="Discard and go back")
    expect(confirm).to_be_disabled()
    asked.get_by_label("Type discard to confirm").fill("discard")
    confirm.click()

    expect(page.get_by_role("status")).to_contain_text("SQLite is served again")
    assert here.gateway.core.stores.database.engine == "sqlite"
    combos = [each["name"] for each in someone.call("GET", "/api/combos")["combos"]]
    assert combos == ["before"]
    expect(log.get_by_role("row", name="Back to SQLite")).to_contain_text("Done")
