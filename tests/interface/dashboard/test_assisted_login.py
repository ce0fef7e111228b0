"""Signing in on a vendor's own pages, from the page of providers to a saved account."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from dashboard_browser import CHROMIUM, FLAGS, VARIABLES, Person, person
from playwright.sync_api import Browser, Locator, Page, expect
from served_gateway import Served, serve_gateway
from web_logins import COOKIES, ORIGIN, Demonstration, pages_provider


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway with a host of its own for logins, and a vendor with pages."""
    with serve_gateway(
        tmp_path_factory.mktemp("data"),
        {},
        specs=lambda _: [pages_provider(Demonstration())],
        variables={**VARIABLES, "GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN},
    ) as running:
        yield running


@pytest.fixture
def someone(browser: Browser, here: Served) -> Iterator[Person]:
    """Somebody whose browser finds the logins' host at the gateway's address."""
    rule = f"MAP {urlsplit(ORIGIN).hostname} {urlsplit(here.url).netloc}"
    flags = [*FLAGS, "--no-proxy-server", f"--host-resolver-rules={rule}"]
    with (
        browser.browser_type.launch(executable_path=CHROMIUM, args=flags) as resolving,
        person(resolving, here) as someone,
    ):
        yield someone


def begin(someone: Person) -> tuple[Locator, Page]:
    """The dialog of a new account, and the window with the vendor's pages."""
    page = someone.visit("providers")
    page.get_by_label("Search vendors").fill("pages")
    page.get_by_role("button", name="Pages").click()
    dialog = page.get_by_role("dialog", name="Add an account at Pages")
    with someone.context.expect_page() as opened:
        dialog.get_by_role("button", name="Sign in at Pages").click()
    return dialog, opened.value


def sign_in(window: Page) -> None:
    window.locator("input[name=pass]").fill("word")
    window.locator("input[name=pass]").press("Enter")
    expect(window.get_by_text("Done")).to_be_visible()


def stored(here: Served, account: str) -> str:
    async def read() -> str:
        found = await here.gateway.core.stores.connections.get(account)
        assert found is not None
        return str(found.secrets["apiKey"])

    return here.do(read())


def test_a_login_at_the_vendor_becomes_an_account(here: Served, someone: Person) -> None:
    dialog, window = begin(someone)
    expect(dialog.get_by_text("Sign in there; this page goes on by itself")).to_be_visible()
    assert window.url.startswith(ORIGIN)
    assert window.evaluate("window.opener") is None
    sign_in(window)

    sheet = someone.page.get_by_role("dialog", name="Pages · main")
    expect(sheet.get_by_role("button", name="Sign in at Pages")).to_be_visible()
    (account,) = someone.call("GET", "/api/providers")["connections"]
    assert account["authType"] == "cookie"
    assert stored(here, account["id"]) == COOKIES


def test_an_account_gets_a_new_cookie(here: Served, someone: Person) -> None:
    body = {"provider": "pages", "name": "main", "apiKey": "session=old"}
    account = someone.call("POST", "/api/providers", body)["connection"]["id"]
    page = someone.visit(f"providers?account={account}")
    with someone.context.expect_page() as opened:
        page.get_by_role("button", name="Sign in at Pages").click()
    sign_in(opened.value)

    expect(page.get_by_text("Saved").first).to_be_visible()
    assert stored(here, account) == COOKIES


def test_a_login_is_given_up(someone: Person) -> None:
    dialog, window = begin(someone)
    dialog.get_by_role("button", name="Cancel").click()

    expect(dialog.get_by_role("button", name="Sign in at Pages")).to_be_visible()
    window.reload()
    expect(window.get_by_text("not_found")).to_be_visible()
    assert someone.call("GET", "/api/providers")["connections"] == []


def test_a_login_that_has_ended_says_so(here: Served, someone: Person) -> None:
    dialog, _ = begin(someone)
    gone = {"error": "There is no such assisted login, or it has ended", "code": "not_found"}
    someone.page.route(
        "**/api/providers/web-login/status*", lambda route: route.fulfill(status=404, json=gone)
    )

    expect(dialog.get_by_role("alert")).to_contain_text("it has ended")
    expect(dialog.get_by_role("button", name="Sign in at Pages")).to_be_visible()
