"""The page of combos: one is made, put into another order, tried and deleted."""

from typing import Any

import httpx2
from dashboard_browser import Person
from playwright.sync_api import Locator, Page, expect
from served_gateway import Served


def combo(here: Served, someone: Person) -> Any:
    (found,) = someone.call("GET", "/api/combos")["combos"]
    return found


def add(editor: Locator, model: str) -> None:
    field = editor.get_by_placeholder("Add a model")
    field.fill(model)
    field.press("Enter")


def test_a_combo_is_made_and_programs_can_call_it(here: Served, someone: Person) -> None:
    page = someone.visit("combos")
    page.get_by_role("button", name="New combo").first.click()
    editor = page.get_by_role("dialog", name="New combo")
    editor.get_by_label("Name").first.fill("quick")
    add(editor, "acme/large")
    add(editor, "open/m-1")
    editor.get_by_role("button", name="Move open/m-1 up").click()
    editor.get_by_label("In turn").check()
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()

    expect(page.get_by_role("table", name="Combos")).to_contain_text("In turn")
    assert combo(here, someone)["models"] == ["open/m-1", "acme/large"]
    strategies = someone.call("GET", "/api/settings")["comboStrategies"]
    assert strategies["quick"]["fallbackStrategy"] == "round-robin"
    body = {"model": "quick", "messages": [{"role": "user", "content": "Hello"}]}
    url = f"{here.url}/v1/chat/completions"
    assert httpx2.post(url, json=body, trust_env=False, timeout=30).status_code == 200


def test_members_are_dragged_into_their_order(here: Served, someone: Person) -> None:
    models = ["acme/large", "acme/small", "open/m-1"]
    someone.call("POST", "/api/combos", {"name": "chain", "models": models})
    page = someone.visit("combos")
    page.get_by_text("chain", exact=True).click()
    editor = page.get_by_role("dialog", name="Change chain")
    items = editor.get_by_role("list", name="Members").get_by_role("listitem")
    items.nth(2).drag_to(items.nth(0))
    expect(items.nth(0)).to_contain_text("open/m-1")
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()

    assert combo(here, someone)["models"] == ["open/m-1", "acme/large", "acme/small"]


def test_a_combo_is_tried_and_the_call_is_in_the_ledger(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/combos", {"name": "quick", "models": ["open/m-1"]})
    page = someone.visit("combos")
    page.get_by_role("button", name="Try it").click()
    dialog = page.get_by_role("dialog", name="Try it: quick")
    dialog.get_by_role("button", name="Try it").click()

    expect(dialog).to_contain_text("Hello from Acme")
    row = here.rows()[0]
    assert row.combo_name == "quick"


def test_a_combo_is_deleted_after_a_question(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/combos", {"name": "quick", "models": ["open/m-1"]})
    page = someone.visit("combos")
    page.get_by_text("quick", exact=True).click()
    page.get_by_role("dialog", name="Change quick").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete quick?").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("No combos yet")).to_be_visible()
    assert someone.call("GET", "/api/combos")["combos"] == []


def tried(page: Page) -> None:
    """Try the only combo once."""
    page.get_by_role("button", name="Try it").click()
    dialog = page.get_by_role("dialog", name="Try it: chain")
    dialog.get_by_role("button", name="Try it").click()
    expect(dialog).to_contain_text("answered in")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def changed(page: Page, strategy: str) -> Locator:
    """The editor of the only combo, with another strategy."""
    page.get_by_role("table", name="Combos").get_by_text("chain", exact=True).click()
    editor = page.get_by_role("dialog", name="Change chain")
    editor.get_by_label(strategy).check()
    return editor


def saved(editor: Locator) -> None:
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()


def test_weights_and_turns_decide_who_answers(here: Served, someone: Person) -> None:
    body = {"name": "chain", "models": ["open/m-1", "open/m-2"]}
    someone.call("POST", "/api/combos", body)
    page = someone.visit("combos")
    editor = changed(page, "By weight")
    editor.get_by_label("Weight open/m-1").fill("0")
    editor.get_by_label("Weight open/m-2").fill("10")
    saved(editor)
    tried(page)
    tried(page)

    assert [row.model_sent for row in here.rows()[:2]] == ["m-2", "m-2"]
    saved(changed(page, "In turn"))
    expect(page.get_by_role("table", name="Combos")).to_contain_text("In turn")
    tried(page)
    tried(page)
    assert {row.model_sent for row in here.rows()[:2]} == {"m-1", "m-2"}


def test_what_speaks_against_members_is_said_in_the_editor(someone: Person) -> None:
    page = someone.visit("combos")
    page.get_by_role("button", name="New combo").first.click()
    editor = page.get_by_role("dialog", name="New combo")
    add(editor, "nobody/nothing")

    expect(editor.get_by_text("No provider has nobody/nothing.")).to_be_visible()
    expect(editor.get_by_text("With one member there is nothing to fall back to.")).to_be_visible()
    editor.get_by_label("Name").first.fill("a name with spaces")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Invalid combo name")).to_be_visible()
    assert someone.call("GET", "/api/combos")["combos"] == []
