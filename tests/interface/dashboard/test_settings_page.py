"""The page of settings: what a person changes there is what the gateway does from then on."""

import httpx2
import pyotp
import pytest
from dashboard_browser import PASSWORD, Person, person
from identity_provider import CLIENT, EMAIL, SECRET, running
from playwright.sync_api import Browser, expect
from served_gateway import Served


def test_a_switch_is_in_force_at_once_and_in_the_audit_log(someone: Person) -> None:
    page = someone.visit("settings")

    page.get_by_label("Require an API key on this machine").click(force=True)

    expect(page.get_by_text("Settings saved")).to_be_visible()
    assert someone.call("GET", "/api/settings")["requireApiKey"] is True
    page.get_by_role("tab", name="Audit log").click()
    page.get_by_role("row", name="settings.change").click()
    sheet = page.get_by_role("dialog", name="settings.change")
    expect(sheet.get_by_role("row", name="requireApiKey")).to_contain_text("true")


def test_a_new_password_is_the_one_that_counts(
    browser: Browser, own: Served, owner: Person
) -> None:
    page = owner.visit("settings")
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password", exact=True).fill("another long word")
    page.get_by_label("New password once more").fill("another long word")

    page.get_by_role("button", name="Change the password").click()

    expect(page.get_by_text("Password changed")).to_be_visible()
    assert owner.call("GET", "/api/auth/status")["authenticated"] is True
    with person(browser, own, signed_in=False) as other:
        other.sign_in("another long word")


def test_a_second_factor_is_set_up_and_asked_for(owner: Person) -> None:
    page = owner.visit("settings")
    page.get_by_role("button", name="Set up").click()
    page.get_by_label("Current password").last.fill(PASSWORD)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("img", name="Scan this with the app")).to_be_visible()
    secret = page.get_by_text("Secret", exact=True).locator("xpath=following::p[1]").inner_text()

    for place, digit in enumerate(pyotp.TOTP(secret).now()):
        page.locator("input[inputmode=numeric]").nth(place).fill(digit)
    page.get_by_role("button", name="Switch on").click()

    expect(page.get_by_text("Backup codes")).to_be_visible()
    assert owner.call("GET", "/api/auth/status")["mfaEnabled"] is True
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_role("button", name="Switch off")).to_be_visible()


def test_another_session_is_ended(browser: Browser, here: Served, someone: Person) -> None:
    for session in someone.call("GET", "/api/auth/sessions")["sessions"]:
        if not session["current"]:
            someone.call("DELETE", f"/api/auth/sessions/{session['id']}")
    with person(browser, here) as other:
        page = someone.visit("settings")
        table = page.get_by_role("table", name="Sessions")
        expect(table.get_by_role("button", name="End")).to_have_count(2)
        row = table.get_by_role("row").filter(has_not_text="This one").filter(has_text="End")

        row.get_by_role("button", name="End").click()

        expect(table.get_by_role("button", name="End")).to_have_count(1)
        answer = other.context.request.get(f"{other.url}/api/settings")
        assert answer.status == 401


def test_old_rows_are_deleted_when_a_person_says_so(someone: Person) -> None:
    page = someone.visit("settings?tab=retention")
    days = page.get_by_label("Days to keep")
    days.fill("45")
    days.press("Enter")
    expect(page.get_by_text("Settings saved")).to_be_visible()

    page.get_by_role("button", name="Delete now").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete now").click()

    expect(page.get_by_text("0 rows deleted")).to_be_visible()
    kept = someone.call("GET", "/api/data-retention")
    assert (kept["days"], kept["lastRun"]["trigger"]) == (45, "manual")


def test_a_proxy_is_tried_before_it_is_saved(someone: Person) -> None:
    page = someone.visit("settings?tab=network")
    page.get_by_label("Address").fill("http://127.0.0.1:9")

    page.get_by_role("button", name="Test").first.click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Save").first.click()

    expect(page.get_by_text("Settings saved").first).to_be_visible()
    assert someone.call("GET", "/api/settings")["outboundProxyUrl"] == "http://127.0.0.1:9"


def test_the_process_and_its_log_are_shown(someone: Person) -> None:
    version = someone.call("GET", "/api/system")["version"]
    page = someone.visit("settings?tab=system")

    expect(page.get_by_text(version, exact=True)).to_be_visible()
    expect(page.get_by_text("sqlite", exact=False).first).to_be_visible()
    stranger = {"x-api-key": "sk-wrong", "x-forwarded-for": "192.0.2.3"}
    assert httpx2.get(f"{someone.url}/v1/models", headers=stranger).status_code == 401
    expect(page.get_by_role("log")).to_contain_text("invalid API key from 192.0.2.3")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Of the provider's own parts.
def test_single_sign_on_is_tried_saved_and_used(
    browser: Browser, here: Served, someone: Person
) -> None:
    page = someone.visit("settings?tab=network")
    page.get_by_label("Issuer").fill("http://127.0.0.1:9")
    page.get_by_label("Client ID").fill(CLIENT)
    page.get_by_label("Client secret").fill(SECRET)
    page.get_by_role("button", name="Test").last.click()
    expect(page.get_by_role("alert")).to_be_visible()

    with running() as provider:
        provider.register(f"{here.url}/api/auth/oidc/callback")
        page.get_by_label("Issuer").fill(provider.issuer)
        page.get_by_role("button", name="Test").last.click()
        expect(page.get_by_text(f"The provider answered: {provider.issuer}")).to_be_visible()
        page.get_by_role("combobox", name="Sign in with").click()
        page.get_by_role("option", name="Password or OIDC").click()
        page.get_by_label("Text of the button").fill("Sign in at Acme")
        page.get_by_role("button", name="Save").last.click()
        expect(page.get_by_text("Settings saved").first).to_be_visible()
        with person(browser, here, signed_in=False) as other:
            visited = other.visit("keys")
            visited.get_by_role("link", name="Sign in at Acme").click()
            expect(visited.get_by_role("heading", name="Keys", exact=True)).to_be_visible()
            assert other.call("GET", "/api/auth/status")["oidcName"] == EMAIL
    someone.call("PATCH", "/api/settings", {"authMode": "password", "oidcIssuerUrl": ""})
