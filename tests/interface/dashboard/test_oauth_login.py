"""Signing in at a vendor with OAuth, from the page of providers to a saved account."""

import re
from collections.abc import Iterator

import pytest
from dashboard_browser import VARIABLES, Person
from oauth_server import OAuthServer, running
from oauth_vendor import login
from playwright.sync_api import Browser, Locator, expect
from served_gateway import Served, serve_gateway

from gateway_core import Auth, Model, ProviderSpec


@pytest.fixture(scope="module")
def server() -> Iterator[OAuthServer]:
    with running() as here:
        yield here


@pytest.fixture(scope="module")
def shared(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, server: OAuthServer
) -> Iterator[Served]:
    """A gateway, and a vendor whose accounts may be logins."""
    spec = ProviderSpec(
        id="signed",
        name="Signed",
        base_url="http://127.0.0.1:9/v1",
        auth=Auth(type="apikey"),
        models=(Model("m"),),
        oauth=login(server),
    )
    with serve_gateway(
        tmp_path_factory.mktemp("data"), {}, specs=lambda _: [spec], variables=VARIABLES
    ) as running_gateway:
        server.register(f"{running_gateway.url}/dashboard/callback")
        yield running_gateway


def begin(someone: Person) -> Locator:
    """The dialog of a new account."""
    page = someone.visit("providers")
    page.get_by_label("Search vendors").fill("signed")
    page.get_by_role("button", name="Signed").click()
    return page.get_by_role("dialog", name="Add an account at Signed")


def test_a_login_in_a_window_becomes_an_account(someone: Person, server: OAuthServer) -> None:
    dialog = begin(someone)
    with someone.context.expect_page() as opened:
        dialog.get_by_role("button", name="Sign in at Signed").click()

    expect(opened.value.get_by_text("You may close this window")).to_be_visible()
    # The code is not left in the window's history.
    expect(opened.value).to_have_url(re.compile("/dashboard/callback$"))
    expect(someone.page.get_by_role("dialog", name="Signed · main")).to_be_visible()
    (account,) = someone.call("GET", "/api/providers")["connections"]
    assert account["authType"] == "oauth"


def test_a_code_is_shown_and_can_be_given_up(someone: Person, server: OAuthServer) -> None:
    dialog = begin(someone)
    dialog.get_by_role("button", name="Use a code").click()

    expect(dialog.get_by_text("type in this code")).to_be_visible()
    link = dialog.get_by_role("link", name="Open the vendor's page")
    expect(link).to_have_attribute("href", f"{server.url}/activate?user_code={code_of(server)}")
    expect(dialog.get_by_text(code_of(server))).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog.get_by_role("button", name="Use a code")).to_be_visible()


def test_a_login_that_the_vendor_refuses_says_so(someone: Person) -> None:
    dialog = begin(someone)
    someone.page.route(
        "**/api/oauth/signed/exchange",
        lambda route: route.fulfill(status=400, json={"error": "The vendor refused the login"}),
    )
    with someone.context.expect_page():
        dialog.get_by_role("button", name="Sign in at Signed").click()

    expect(dialog.get_by_role("alert")).to_contain_text("The vendor refused the login")
    expect(dialog.get_by_role("button", name="Sign in at Signed")).to_be_visible()


def code_of(server: OAuthServer) -> str:
    (*_, credential) = server.devices.values()
    code: str = credential["user_code"]
    return code
