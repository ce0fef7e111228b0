"""On a phone no page scrolls sideways, however long what it shows is."""

from collections.abc import Iterator

import pytest
from dashboard_browser import PATHS, PHONE, Person, ask, expect_loaded, person
from playwright.sync_api import Browser, Page, expect
from served_gateway import Served

LONG = "a-name-that-somebody-has-chosen-who-likes-long-names"
WORD = "w" * 120
"""Without a place to break it."""
FURTHER = (
    *("usage?tab=prices", "files?tab=batches", "requests?request=open"),
    *(f"settings?tab={tab}" for tab in ("network", "retention", "backup", "audit", "system")),
)
SHEETS = [
    ("providers", "Accounts"),
    ("keys", "Keys"),
    ("combos", "Combos"),
    ("models", "Models"),
    ("requests", "Requests"),
    ("plugins", "Plugins"),
]


@pytest.fixture(scope="module")
def phone(browser: Browser, shared: Served) -> Iterator[Person]:
    """Somebody with a phone, before a gateway with long names in every table."""
    with person(browser, shared, size=PHONE) as someone:
        for name in (LONG, WORD[:100]):
            body = {"provider": "acme", "name": name, "apiKey": "sk-1"}
            someone.call("POST", "/api/providers", body)
            key = {"name": name, "machineId": "any", "groups": [name], "rpmLimit": 1_000_000}
            someone.call("POST", "/api/keys", key)
            models = [f"acme/{name}", "open/m-1", "acme/large"]
            someone.call("POST", "/api/combos", {"name": name, "models": models})
        someone.call("PUT", "/api/models/alias", {"alias": f"{LONG}-too", "model": "acme/large"})
        pool = {"name": LONG, "proxyUrl": f"http://{LONG}.test:3128"}
        someone.call("POST", "/api/proxy-pools", pool)
        for model in ("open/m-1", f"open/{LONG}", f"open/{WORD}"):
            ask(shared, model)
        shared.rows()
        yield someone


def fits(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE[0], page.evaluate(
        """() => [...document.querySelectorAll("body *")]
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
            .slice(0, 5).map((each) => each.outerHTML.slice(0, 200))"""
    )


@pytest.mark.parametrize("path", [*PATHS, *FURTHER])
def test_no_page_scrolls_sideways(phone: Person, path: str) -> None:
    page = phone.visit(path)
    expect_loaded(page)
    fits(page)


@pytest.mark.parametrize(("path", "table"), SHEETS, ids=[sheet[0] for sheet in SHEETS])
def test_no_sheet_does(phone: Person, path: str, table: str) -> None:
    page = phone.visit(path)
    expect_loaded(page)
    page.get_by_role("table", name=table).get_by_role("row").nth(1).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator(".mantine-Skeleton-root")).to_have_count(0)

    fits(page)
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]
    inside = dialog.locator(".mantine-Drawer-body, .mantine-Modal-body")
    assert inside.evaluate("(each) => each.scrollWidth <= each.clientWidth")


def test_what_is_done_with_a_row_is_in_sight(phone: Person) -> None:
    page = phone.visit("providers")
    expect_loaded(page)
    expect(page.get_by_role("button", name="More: ").first).to_be_in_viewport(ratio=1)
    page = phone.visit("combos")
    expect_loaded(page)
    expect(page.get_by_role("button", name="Try it").first).to_be_in_viewport(ratio=1)


def test_the_menu_opens_leads_on_and_closes(phone: Person) -> None:
    page = phone.visit("overview")
    expect_loaded(page)
    menu = page.get_by_role("button", name="Menu")
    link = page.get_by_role("link", name="Keys", exact=True)
    expect(link).to_be_hidden()
    menu.click()
    expect(link).to_be_visible()
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    menu.click()
    link.click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    expect(link).to_be_hidden()
