"""Signing in: the second factor, a lockout, a session that ends."""

import pyotp
from dashboard_browser import PASSWORD, Person, person
from playwright.sync_api import Browser, Page, expect
from served_gateway import Served


def sign_in(page: Page, password: str) -> None:
    page.get_by_role("textbox", name="Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_wrong_passwords_lock_the_form(browser: Browser, own: Served) -> None:
    with person(browser, own, signed_in=False) as someone:
        page = someone.visit("overview")
        for left in (4, 3, 2, 1, 0):
            sign_in(page, "wrong")
            words = "One attempt is left" if left == 1 else f"{left} attempts are left"
            expect(page.get_by_text(words)).to_be_visible()
        sign_in(page, PASSWORD)

        expect(page.get_by_text("Too many attempts. Try again in")).to_be_visible()
        expect(page.get_by_role("button", name="Sign in")).to_be_disabled()


def test_the_second_factor_is_asked_for(browser: Browser, own: Served, owner: Person) -> None:
    secret = owner.call("POST", "/api/auth/mfa/setup", {"password": PASSWORD})["secret"]
    body = {"password": PASSWORD, "secret": secret, "code": pyotp.TOTP(secret).now()}
    backup = owner.call("POST", "/api/auth/mfa/enable", body)["backupCodes"]

    with person(browser, own, signed_in=False) as other:
        page = other.visit("overview")
        sign_in(page, PASSWORD)
        page.get_by_label("Code").fill(backup[0])
        page.get_by_role("button", name="Verify").click()

        expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_a_session_that_ends_asks_again_and_goes_on(someone: Person) -> None:
    page = someone.visit("requests?model=large")
    expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
    someone.call("DELETE", "/api/auth/sessions")
    # Not clicked: the sign-in may cover it already.
    page.get_by_text("7 days").dispatch_event("click")

    expect(page.get_by_text("Your session has ended")).to_be_visible()
    sign_in(page, PASSWORD)
    expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
    assert "model=large" in page.url
    assert "period=7d" in page.url
