"""What is changed in one tab, or elsewhere, is seen in another when it is looked at."""

from collections.abc import Callable

import pytest
from dashboard_browser import Person
from playwright.sync_api import Page, expect


def other_tab(someone: Person, path: str) -> Page:
    other = someone.new_page()
    other.goto(f"{someone.url}/dashboard/{path}")
    expect(other.get_by_role("heading", level=1)).to_be_visible()
    return other


def look_at(page: Page) -> None:
    """What a browser tells a page that is looked at again; without a window no page is hidden."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")


def pause_account(someone: Person, page: Page, other: Page) -> None:
    row = other.get_by_role("table", name="Accounts").get_by_role("row", name="first")
    expect(row).to_contain_text("Not tested")
    page.get_by_role("button", name="More: first").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(row).to_contain_text("Paused")
    assert someone.call("GET", "/api/providers")["connections"][0]["isActive"] is False


def make_combo(someone: Person, page: Page, other: Page) -> None:
    page.get_by_role("button", name="New combo").first.click()
    editor = page.get_by_role("dialog", name="New combo")
    editor.get_by_label("Name").first.fill("quick")
    field = editor.get_by_placeholder("Add a model")
    field.fill("open/m-1")
    field.press("Enter")
    editor.get_by_role("button", name="Save").click()
    expect(other.get_by_role("table", name="Combos")).to_contain_text("quick")
    assert [each["name"] for each in someone.call("GET", "/api/combos")["combos"]] == ["quick"]


def disable_model(someone: Person, page: Page, other: Page) -> None:
    row = other.get_by_role("table", name="Models").get_by_role("row", name="acme/large")
    expect(row).to_be_visible()
    page.get_by_role("table", name="Models").get_by_role("row", name="acme/large").click()
    page.get_by_role("dialog", name="Acme Large").get_by_role("button", name="Disable").click()
    expect(row).to_be_hidden()
    someone.call("DELETE", "/api/models/disabled?providerAlias=acme&id=large")


@pytest.mark.parametrize(
    ("path", "change"),
    [("providers", pause_account), ("combos", make_combo), ("models?provider=acme", disable_model)],
    ids=["account", "combo", "model"],
)
def test_a_change_in_one_tab_is_seen_in_another(
    someone: Person, path: str, change: Callable[[Person, Page, Page], None]
) -> None:
    body = {"provider": "acme", "name": "first", "apiKey": "sk-1"}
    someone.call("POST", "/api/providers", body)
    other = other_tab(someone, path)
    page = someone.visit(path)
    change(someone, page, other)


def test_a_programs_change_is_seen_when_a_tab_is_looked_at(someone: Person) -> None:
    """Also of what was read a moment before."""
    page = someone.visit("combos")
    expect(page.get_by_text("No combos yet")).to_be_visible()
    page.wait_for_load_state("networkidle")
    someone.call("POST", "/api/combos", {"name": "quick", "models": ["open/m-1"]})

    look_at(page)

    expect(page.get_by_role("table", name="Combos")).to_contain_text("quick")
