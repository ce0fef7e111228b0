"""The page of plugins: a person finds one, looks at it, and switches it off and on."""

from pathlib import Path

from dashboard_browser import VARIABLES, Person, acme, answer, person
from drop_ins import folder_in, vendor
from playwright.sync_api import Browser, expect
from served_gateway import serve_gateway

from gateway_core.plugins.lock import FILE, taken
from gateway_core.plugins.sources import find


def test_a_plugin_is_found_and_switched_off_and_on_again(someone: Person) -> None:
    page = someone.visit("plugins")
    page.get_by_label("Search plugins").fill("echo")
    row = page.get_by_role("row", name="echo")
    expect(row).to_contain_text("Loaded")
    row.click()
    sheet = page.get_by_role("dialog", name="echo")
    expect(sheet).to_contain_text("model-gateway-provider-echo")

    sheet.get_by_role("button", name="Disable").click()
    page.get_by_role("dialog", name="Disable echo?").get_by_role("button", name="Disable").click()

    expect(sheet.get_by_text("Off from the next start")).to_be_visible()
    assert someone.call("GET", "/api/plugins/echo")["enabled"] is False
    sheet.get_by_role("button", name="Enable").click()
    expect(sheet.get_by_role("button", name="Disable")).to_be_visible()
    assert someone.call("GET", "/api/plugins/echo")["enabled"] is True


def test_settings_of_a_plugin_are_a_form_made_of_their_schema(someone: Person) -> None:
    page = someone.visit("plugins?plugin=gemini")
    sheet = page.get_by_role("dialog", name="gemini")

    field = sheet.get_by_label("speechTimeoutMs")
    expect(field).to_have_value("45000")
    field.fill("60000")
    sheet.get_by_role("button", name="Save").click()

    expect(page.get_by_text("Settings saved")).to_be_visible()
    changed = someone.call("GET", "/api/plugins/gemini/settings")
    assert changed["settings"]["speechTimeoutMs"] == 60_000
    expect(sheet.get_by_text("until the gateway starts again")).to_be_visible()


def test_fields_of_every_type_are_in_the_form_and_secrets_stay_inside(someone: Person) -> None:
    page = someone.visit("plugins?plugin=extension-alerts")
    sheet = page.get_by_role("dialog", name="extension-alerts")
    sheet.get_by_role("combobox", name="smtpSecurity").click()
    page.get_by_role("option", name="tls", exact=True).click()
    sheet.get_by_label("smtpPort").fill("465")
    receivers = sheet.get_by_label("mailTo")
    receivers.fill("ops@acme.example")
    receivers.press("Enter")
    sheet.get_by_label("smtpPassword").fill("canary")
    sheet.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Settings saved")).to_be_visible()

    stored = someone.call("GET", "/api/plugins/extension-alerts/settings")
    settings = stored["settings"]
    assert (settings["smtpSecurity"], settings["smtpPort"]) == ("tls", 465)
    assert settings["mailTo"] == ["ops@acme.example"]
    assert "canary" not in str(stored)
    expect(sheet.get_by_label("smtpPassword")).to_have_value("")
    sheet.get_by_role("button", name="Bring the defaults back").click()
    question = page.get_by_role("dialog", name="Bring the defaults back")
    question.get_by_role("button", name="Bring the defaults back").click()
    expect(sheet.get_by_label("smtpPort")).to_have_value("587")


def test_switching_off_is_undone(someone: Person) -> None:
    page = someone.visit("plugins?plugin=echo")
    sheet = page.get_by_role("dialog", name="echo", exact=True)
    sheet.get_by_role("button", name="Disable").click()
    question = page.get_by_role("dialog", name="Disable echo?")
    question.get_by_role("button", name="Cancel").click()
    assert someone.call("GET", "/api/plugins/echo")["enabled"] is True
    sheet.get_by_role("button", name="Disable").click()
    question.get_by_role("button", name="Disable").click()
    with page.expect_response("**/api/plugins/echo/enable"):
        page.get_by_role("button", name="Undo").click()

    assert someone.call("GET", "/api/plugins/echo")["enabled"] is True


def test_a_plugin_that_the_lock_refuses_says_so(browser: Browser, tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.write_json(
        FILE, taken(find(lambda name, problem: None, folder=folder, extra={}), folder)
    )
    folder_in(tmp_path, smuggled=vendor("smuggled"))
    with (
        serve_gateway(tmp_path, {"openai": answer}, specs=acme, variables=VARIABLES) as here,
        person(browser, here) as someone,
    ):
        page = someone.visit("plugins?state=refused by the lock")
        rows = page.get_by_role("table", name="Plugins").get_by_role("row")
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("Locked")
        rows.nth(1).click()
        sheet = page.get_by_role("dialog", name="smuggled")
        expect(sheet.get_by_role("alert").first).to_contain_text("lock")
        assert all(
            each["provider"] != "smuggled"
            for each in someone.call("GET", "/api/health/providers")["providers"]
        )
