"""The page of keys: they are made, used, limited, asked about, paused and deleted."""

import httpx2
import pytest
from dashboard_browser import Person
from playwright.sync_api import Page, expect
from served_gateway import Served

ASKED = {"model": "open/m-1", "messages": [{"role": "user", "content": "Hello"}]}


def ask(here: Served, key: str) -> int:
    """A program's call with a key, from elsewhere."""
    headers = {"authorization": f"Bearer {key}", "x-forwarded-for": "203.0.113.5"}
    url = f"{here.url}/v1/chat/completions"
    return httpx2.post(url, json=ASKED, headers=headers, trust_env=False, timeout=30).status_code


def make(someone: Person, name: str, **more: object) -> str:
    made = someone.call("POST", "/api/keys", {"name": name, "machineId": "any", **more})
    key: str = made["key"]
    return key


def menu(page: Page, name: str) -> None:
    """Open the sheet of a key."""
    page.get_by_role("table", name="Keys").get_by_text(name, exact=True).click()
    expect(page.get_by_role("dialog", name=name)).to_be_visible()


def test_a_key_is_made_copied_once_and_works(here: Served, someone: Person) -> None:
    page = someone.visit("keys")
    page.get_by_role("button", name="New key").first.click()
    editor = page.get_by_role("dialog", name="New key")
    editor.get_by_role("textbox", name="Name", exact=True).fill("laptop")
    editor.get_by_role("textbox", name="Requests a minute").fill("1")
    expect(editor.get_by_test_id("summary")).to_contain_text("At most 1 requests a minute.")
    editor.get_by_role("button", name="Create").click()

    dialog = page.get_by_role("dialog", name="The new key")
    key = dialog.get_by_text("sk-").inner_text()
    page.get_by_role("button", name="I have copied it").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("table", name="Keys")).to_contain_text("laptop")
    assert [ask(here, key), ask(here, key)] == [200, 429]
    assert key not in page.content()


def test_the_table_says_when_a_key_was_used_last(here: Served, someone: Person) -> None:
    ask(here, make(someone, "used"))
    make(someone, "unused")
    here.rows()

    page = someone.visit("keys")

    table = page.get_by_role("table", name="Keys")
    expect(table.get_by_role("columnheader", name="Last used")).to_be_visible()
    expect(table.get_by_role("row", name="unused").locator("time")).to_have_count(0)
    when = table.get_by_role("row").filter(has=page.get_by_text("used", exact=True)).locator("time")
    expect(when).to_have_attribute("datetime", here.rows()[0].finished_at)


def test_what_a_key_may_call_is_changed_and_asked_about(here: Served, someone: Person) -> None:
    key = make(someone, "service")
    page = someone.visit("keys")
    menu(page, "service")
    page.get_by_role("button", name="Edit").click()
    editor = page.get_by_role("dialog", name="Change service")
    editor.get_by_text("All but these").click()
    editor.get_by_label("Names and patterns").first.fill("open/*")
    editor.get_by_label("Names and patterns").first.press("Enter")
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()

    sheet = page.get_by_role("dialog", name="service")
    expect(sheet.get_by_test_id("summary")).to_contain_text("every model except open/*")
    sheet.get_by_label("Model or combo").first.fill("open/m-1")
    sheet.get_by_role("button", name="Ask").click()
    expect(sheet.get_by_role("alert")).to_contain_text("No, it would get 403")
    assert ask(here, key) == 403


def test_a_key_is_paused_and_undone(here: Served, someone: Person) -> None:
    key = make(someone, "pausing")
    page = someone.visit("keys")
    menu(page, "pausing")
    page.get_by_role("button", name="Pause").click()

    expect(page.get_by_text("pausing is paused")).to_be_visible()
    assert ask(here, key) == 401
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("pausing is active again")).to_be_visible()
    assert ask(here, key) == 200


def test_a_key_is_shown_again_and_deleted(here: Served, someone: Person) -> None:
    key = make(someone, "old")
    page = someone.visit("keys")
    menu(page, "old")
    page.get_by_role("button", name="Show the key").click()
    expect(page.get_by_text(key)).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete old?").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("No keys yet")).to_be_visible()
    assert ask(here, key) == 401


@pytest.mark.parametrize(
    ("state", "seen", "unseen"), [("Paused", "sleeping", "awake"), ("Active", "awake", "sleeping")]
)
def test_keys_are_found_by_state_and_by_the_address(
    someone: Person, state: str, seen: str, unseen: str
) -> None:
    make(someone, "awake")
    make(someone, "sleeping", isActive=False)
    page = someone.visit("keys")
    table = page.get_by_role("table", name="Keys")
    expect(table).to_contain_text(unseen)
    page.get_by_text(state, exact=True).first.click()

    expect(table).to_contain_text(seen)
    expect(table).not_to_contain_text(unseen)
    page.reload()
    expect(table).to_contain_text(seen)
    expect(table).not_to_contain_text(unseen)
