"""A change that the gateway refuses is taken back in the page, and the error stands beside it."""

from typing import Any

import pytest
from dashboard_browser import Person
from playwright.sync_api import Page, Route, expect

BROKEN = {"error": "The disk is full", "request_id": "r-1"}


def hold(page: Page, path: str) -> list[Route]:
    """The changes that are asked for, each waiting for its answer."""
    held: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            route.continue_()
        else:
            held.append(route)

    page.route(path, answer)
    return held


def refuse(page: Page, held: list[Route]) -> None:
    """Answer the one change that waits."""
    (route,) = held
    route.fulfill(status=500, json=BROKEN)
    page.unroute_all()


def accounts(someone: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = someone.call("GET", "/api/providers")["connections"]
    return [each for each in found if each["provider"] == "acme"]


def add(someone: Person, *names: str) -> None:
    for name in names:
        body = {"provider": "acme", "name": name, "apiKey": "sk-1"}
        someone.call("POST", "/api/providers", body)


def test_an_account_that_is_not_paused_looks_used_again(someone: Person) -> None:
    add(someone, "first", "second")
    page = someone.visit("providers")
    row = page.get_by_role("table", name="Accounts").get_by_role("row", name="first")
    expect(row).to_contain_text("Not tested")
    held = hold(page, "**/api/providers/*")
    page.get_by_role("button", name="More: first").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(row).to_contain_text("Paused")

    refuse(page, held)

    expect(row.get_by_role("alert")).to_have_text("Not changed: The disk is full")
    expect(row).to_contain_text("Not tested")
    expect(page.get_by_role("alert")).to_have_count(1)
    assert [each["isActive"] for each in accounts(someone)] == [True, True]
    page.get_by_role("button", name="More: first").click()
    page.get_by_role("menuitem", name="Pause").click()
    expect(page.get_by_text("first is paused")).to_be_visible()
    expect(row.get_by_role("alert")).to_have_count(0)
    assert [each["isActive"] for each in accounts(someone)] == [False, True]


def test_accounts_that_are_not_moved_stand_where_they_stood(someone: Person) -> None:
    add(someone, "first", "second")
    page = someone.visit("providers")
    rows = page.get_by_role("table", name="Accounts").get_by_role("row")
    held = hold(page, "**/api/providers/reorder")
    page.get_by_role("button", name="Move up: second").click()
    expect(rows.nth(1)).to_contain_text("second")

    refuse(page, held)

    expect(rows.nth(1)).to_contain_text("first")
    expect(rows.nth(2).get_by_role("alert")).to_have_text("Not changed: The disk is full")
    assert [each["name"] for each in accounts(someone)] == ["first", "second"]


def test_a_key_that_is_not_paused_looks_active_again(someone: Person) -> None:
    someone.call("POST", "/api/keys", {"name": "laptop", "machineId": "any"})
    page = someone.visit("keys")
    table = page.get_by_role("table", name="Keys")
    table.get_by_text("laptop", exact=True).click()
    sheet = page.get_by_role("dialog", name="laptop")
    held = hold(page, "**/api/keys/*")
    sheet.get_by_role("button", name="Pause").click()
    expect(sheet.get_by_role("button", name="Resume")).to_be_visible()

    refuse(page, held)

    expect(sheet.get_by_role("alert")).to_have_text("The disk is full")
    expect(sheet.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Escape")
    expect(table.get_by_role("img", name="Active")).to_be_visible()
    assert someone.call("GET", "/api/keys")["keys"][0]["isActive"] is True


@pytest.mark.parametrize(
    ("path", "sheet", "button", "call"),
    [
        ("models?model=acme/large", "Acme Large", "Disable", "**/api/models/disabled"),
        ("keys", "laptop", "Show the key", "**/api/keys/*/reveal"),
    ],
)
def test_what_a_sheet_cannot_do_is_said_in_the_sheet(
    someone: Person, path: str, sheet: str, button: str, call: str
) -> None:
    add(someone, "first")
    made = someone.call("POST", "/api/keys", {"name": "laptop", "machineId": "any"})
    page = someone.visit(path if "?" in path else f"{path}?key={made['id']}")
    dialog = page.get_by_role("dialog", name=sheet)
    page.route(call, lambda route: route.fulfill(status=500, json=BROKEN))
    dialog.get_by_role("button", name=button).click()

    expect(dialog.get_by_role("alert")).to_have_text("The disk is full")
    page.unroute_all()
    dialog.get_by_role("button", name=button).click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    someone.call("DELETE", "/api/models/disabled?providerAlias=acme&id=large")
