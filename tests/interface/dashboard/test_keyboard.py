"""Everything is reached and done without a mouse: menu, palette, tables, menus, dialogs, orders."""

from collections.abc import Iterator
from typing import Any

import pytest
from dashboard_browser import PATHS, READING, Person, ask, expect_loaded, person
from playwright.sync_api import Browser, Locator, Page, expect
from served_gateway import Served

MOST_STEPS = 400
"""Tabs after which a page counts as a trap."""

UNREACHED = """
() => {
    const main = document.getElementById("content");
    const isSeen = { visibilityProperty: true, opacityProperty: true };
    const shown = (each) => each.checkVisibility(isSeen)
        && each.getBoundingClientRect().width > 1;
    const canFocus = "a[href], button, input, select, textarea, label, summary, [tabindex]";
    // Parts of one control: reached by arrows, or another way to do what it does by keys.
    const parts = "[role=tab], [type=radio], [role=option], .mantine-InputWrapper-root button,"
        + " .mantine-Input-wrapper button";
    const words = (each) => `${each.tagName} ${each.getAttribute("aria-label") ?? ""} `
        + each.textContent.slice(0, 40);
    const controls = [...main.querySelectorAll("a[href], button, input, select, textarea")];
    return {
        mouse: [...main.querySelectorAll("*")].filter((each) => shown(each)
            && getComputedStyle(each).cursor === "pointer" && !each.closest(canFocus)).map(words),
        skipped: controls.filter((each) => shown(each) && !each.disabled && each.tabIndex < 0
            && !each.matches(parts)).map(words),
    };
}
"""
"""What of a page only a mouse reaches, and controls that the tab key passes over."""

MARK = """
async () => {
    const frame = () => new Promise(requestAnimationFrame);
    // Rows are drawn as the focus comes near them.
    if (document.activeElement.matches("[role=row], tr")) await frame().then(frame);
    const at = document.activeElement;
    const main = document.getElementById("content");
    if (!main.contains(at)) return null;
    if (at.dataset.step !== undefined) return -1;
    at.dataset.step = "";
    return at.checkVisibility() && at.getBoundingClientRect().width > 0 ? 1 : 0;
}
"""
"""Marks what has the focus: null outside, -1 where it was before, 0 where nothing shows."""

LEFT = """
() => {
    const main = document.getElementById("content");
    const marked = [...main.querySelectorAll("[data-step][type=radio]")];
    const radios = new Set(marked.map((each) => each.name));
    return [...main.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")]
        .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility()
            && each.getBoundingClientRect().width > 0 && each.dataset.step === undefined
            && !(each.type === "radio" && (radios.has(each.name) || !each.checked)))
        .map((each) => `${each.tagName} ${each.getAttribute("aria-label") ?? ""} `
            + each.textContent.slice(0, 40));
}
"""
"""What takes the focus and was not marked."""


@pytest.fixture(scope="module")
def filled(browser: Browser, shared: Served) -> Served:
    """A gateway with something in every table."""
    with person(browser, shared) as someone:
        fill(someone)
    ask(shared, "open/m-1")
    shared.rows()
    return shared


def fill(someone: Person) -> None:
    for name in ("first", "second"):
        body = {"provider": "acme", "name": name, "apiKey": "sk-1"}
        someone.call("POST", "/api/providers", body)
        someone.call("POST", "/api/keys", {"name": name, "machineId": "any"})
        someone.call("POST", "/api/combos", {"name": name, "models": ["acme/large", "open/m-1"]})


@pytest.fixture
def someone(browser: Browser, filled: Served) -> Iterator[Person]:
    with person(browser, filled) as someone:
        yield someone


def tab_to(page: Page, target: Locator) -> None:
    """Press the tab key until something has the focus."""
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        if target.evaluate("(each) => each === document.activeElement"):
            return
    raise AssertionError(f"The tab key does not reach {target}")


@pytest.mark.parametrize("path", READING)
def test_the_tab_key_reaches_everything_on_a_page(someone: Person, path: str) -> None:
    page = someone.visit(path)
    expect_loaded(page)
    # No picture of a running second: what is read again replaces rows.
    page.route("**/api/**", lambda route: None)

    found = page.evaluate(UNREACHED)
    assert found == {"mouse": [], "skipped": []}
    page.locator("#content").focus()
    steps = []
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        step = page.evaluate(MARK)
        if step is None or step == -1:
            break
        steps.append(step)
    page.unroute_all(behavior="ignoreErrors")
    assert steps
    assert 0 not in steps, "something has the focus that nobody sees"
    if len(steps) < MOST_STEPS:
        assert page.evaluate(LEFT) == []


def test_the_content_is_skipped_to_and_the_menu_leads_to_every_page(someone: Person) -> None:
    page = someone.visit("keys")
    expect_loaded(page)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()

    page = someone.visit("keys")
    expect_loaded(page)
    seen = []
    while len(seen) < len(PATHS):
        page.keyboard.press("Tab")
        address = page.evaluate("document.activeElement.getAttribute('href')")
        inside = page.evaluate("document.activeElement.closest('nav') !== null")
        if inside and address is not None:
            seen.append(address.removeprefix("/dashboard/"))
        assert inside or not seen, f"the menu ends after {seen}"
    assert seen == PATHS
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


@pytest.mark.parametrize("path", PATHS)
def test_the_palette_leads_to_every_page(someone: Person, path: str) -> None:
    page = someone.visit("combos")
    expect_loaded(page)
    name = page.locator(f"nav a[href$='/{path}']").inner_text()
    page.keyboard.press("Control+K")
    field = page.get_by_role("textbox", name="Search or jump to")
    expect(field).to_be_focused()
    page.keyboard.type(name)
    expect(field).to_have_value(name)
    expect(page.locator("[data-selected]")).to_contain_text(name)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{someone.url}/dashboard/{path}")
    expect_loaded(page)
    # On the page, or in a field that it begins with.
    expect(page.locator("main:focus-within")).to_have_count(1)


def test_the_palette_gives_the_focus_back(someone: Person) -> None:
    page = someone.visit("combos")
    expect_loaded(page)
    field = page.get_by_role("textbox", name="Name or model")
    create = page.get_by_role("button", name="New combo").first
    for _ in range(2):
        create.focus()
        page.keyboard.press("/")
        expect(page.get_by_role("textbox", name="Search or jump to")).to_be_focused()
        page.keyboard.press("Escape")
        expect(create).to_be_focused()
    field.focus()
    page.keyboard.type("/")
    expect(field).to_have_value("/")


SHEETS = [
    ("keys", "Keys", "first"),
    ("combos", "Combos", "first"),
    ("providers", "Accounts", "first"),
    ("models", "Models", "acme/large"),
    ("requests", "Requests", "m-1"),
    ("plugins", "Plugins", ""),
]


@pytest.mark.parametrize(("path", "table", "name"), SHEETS, ids=[sheet[0] for sheet in SHEETS])
def test_a_row_opens_keeps_the_focus_inside_and_gives_it_back(
    someone: Person, path: str, table: str, name: str
) -> None:
    page = someone.visit(path)
    expect_loaded(page)
    rows = page.get_by_role("table", name=table).get_by_role("row")
    rows.nth(1).focus()
    page.keyboard.press("ArrowDown")
    row = rows.nth(min(2, rows.count() - 1))
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator(":focus")).to_have_count(1)
    for key in [*["Tab"] * 40, *["Shift+Tab"] * 45]:
        page.keyboard.press(key)
        assert dialog.locator(":focus").count() == 1, key

    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(row).to_be_focused()


def test_escape_closes_only_what_is_on_top(someone: Person) -> None:
    page = someone.visit("keys")
    row = page.get_by_role("table", name="Keys").get_by_role("row", name="first")
    row.focus()
    page.keyboard.press("Enter")
    edit = page.get_by_role("dialog", name="first").get_by_role("button", name="Edit")
    expect(edit).to_be_visible()
    tab_to(page, edit)
    page.keyboard.press("Enter")
    editor = page.get_by_role("dialog", name="Change first")
    expect(editor.get_by_role("textbox", name="Name", exact=True)).to_be_focused()

    page.keyboard.press("Escape")
    expect(editor).to_be_hidden()
    expect(edit).to_be_focused()
    page.keyboard.press("Escape")
    expect(edit).to_be_hidden()
    expect(row).to_be_focused()


def test_an_account_is_deleted_by_its_menu(someone: Person) -> None:
    body = {"provider": "acme", "name": "third", "apiKey": "sk-1"}
    someone.call("POST", "/api/providers", body)
    page = someone.visit("providers")
    expect_loaded(page)
    more = page.get_by_role("button", name="More: third")
    question = page.get_by_role("dialog", name="Delete the account third?")

    def open_menu() -> None:
        more.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("menu").locator(":focus")).to_have_count(1)
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("menuitem", name="Pause")).to_be_focused()

    def choose_delete() -> None:
        open_menu()
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
        page.keyboard.press("Enter")
        expect(question.locator(":focus")).to_have_count(1)

    open_menu()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem", name="Pause")).to_have_count(0)
    expect(more).to_be_focused()
    choose_delete()
    page.keyboard.press("Escape")
    expect(question).to_be_hidden()
    expect(more).to_be_focused()
    assert len(someone.call("GET", "/api/providers")["connections"]) == 3
    choose_delete()
    expect(question.get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("third is deleted")).to_be_visible()
    assert len(someone.call("GET", "/api/providers")["connections"]) == 2


def test_the_menu_of_the_person_is_worked_by_keys(someone: Person) -> None:
    page = someone.visit("combos")
    expect_loaded(page)
    button = page.get_by_role("button", name="admin")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu").locator(":focus")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Light")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("html[data-mantine-color-scheme=dark]")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem", name="Light")).to_have_count(0)
    expect(button).to_be_focused()


def members(someone: Person, name: str) -> list[str]:
    found: list[dict[str, Any]] = someone.call("GET", "/api/combos")["combos"]
    (models,) = [each["models"] for each in found if each["name"] == name]
    return list(models)


def test_members_of_a_combo_are_put_in_order_by_keys(someone: Person) -> None:
    models = ["acme/large", "acme/small", "open/m-1"]
    someone.call("POST", "/api/combos", {"name": "chain", "models": models})
    page = someone.visit("combos")
    page.get_by_role("table", name="Combos").get_by_role("row", name="chain").focus()
    page.keyboard.press("Enter")
    editor = page.get_by_role("dialog", name="Change chain")
    items = editor.get_by_role("list", name="Members").get_by_role("listitem")
    grip = editor.get_by_role("button", name="Order of open/m-1")
    tab_to(page, grip)
    page.keyboard.press("ArrowUp")
    expect(items.nth(1)).to_contain_text("open/m-1")
    expect(grip).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(items.nth(0)).to_contain_text("open/m-1")
    expect(editor.get_by_text("open/m-1 is number 1 of 3")).to_be_attached()
    expect(grip).to_be_focused()

    down = editor.get_by_role("button", name="Move acme/large down")
    tab_to(page, down)
    page.keyboard.press("Enter")
    expect(items.nth(2)).to_contain_text("acme/large")
    expect(down).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, editor.get_by_role("button", name="Save"))
    page.keyboard.press("Enter")
    expect(editor).to_be_hidden()
    assert members(someone, "chain") == ["open/m-1", "acme/small", "acme/large"]


def test_accounts_are_put_in_order_by_keys(filled: Served, someone: Person) -> None:
    page = someone.visit("providers")
    expect_loaded(page)
    up = page.get_by_role("button", name="Move up: second")
    tab_to(page, up)
    with page.expect_response("**/api/providers/reorder"):
        page.keyboard.press("Enter")
    rows = page.get_by_role("table", name="Accounts").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("second")
    expect(up).to_be_focused()
    stored = someone.call("GET", "/api/providers")["connections"]
    assert [each["name"] for each in stored] == ["second", "first"]


def test_a_new_key_is_made_by_keys_alone(filled: Served, someone: Person) -> None:
    page = someone.visit("keys")
    expect_loaded(page)
    tab_to(page, page.get_by_role("button", name="New key").first)
    page.keyboard.press("Enter")
    editor = page.get_by_role("dialog", name="New key")
    expect(editor.get_by_role("textbox", name="Name", exact=True)).to_be_focused()
    page.keyboard.type("typed")
    page.keyboard.press("Enter")
    done = page.get_by_role("button", name="I have copied it")
    expect(done).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(
        page.get_by_role("main").locator(":focus").or_(page.locator("main:focus"))
    ).to_have_count(1)
    names = {each["name"] for each in someone.call("GET", "/api/keys")["keys"]}
    assert "typed" in names
