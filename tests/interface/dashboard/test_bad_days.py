"""What was typed survives a failure, a lost network and the end of a session; tabs follow one
another."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from dashboard_browser import PASSWORD, Person
from playwright.sync_api import Locator, Page, Route, expect
from served_gateway import Served


class Form(NamedTuple):
    """A form with something typed into it."""

    dialog: Locator
    field: Locator
    save: Locator
    typed: str


def key_form(someone: Person) -> Form:
    page = someone.visit("keys")
    page.get_by_role("button", name="New key").first.click()
    dialog = page.get_by_role("dialog", name="New key", exact=True)
    field = dialog.get_by_role("textbox", name="Name", exact=True)
    field.fill("laptop")
    return Form(dialog, field, dialog.get_by_role("button", name="Create"), "laptop")


def account_form(someone: Person) -> Form:
    page = someone.visit("providers")
    page.get_by_label("Search vendors").fill("acm")
    page.get_by_role("button", name="Acme").click()
    dialog = page.get_by_role("dialog", name="Add an account at Acme")
    field = dialog.get_by_role("textbox", name="API key")
    field.fill("sk-acme")
    return Form(dialog, field, dialog.get_by_role("button", name="Save and test"), "sk-acme")


def combo_form(someone: Person) -> Form:
    page = someone.visit("combos")
    page.get_by_role("button", name="New combo").first.click()
    dialog = page.get_by_role("dialog", name="New combo")
    field = dialog.get_by_label("Name").first
    field.fill("quick")
    model = dialog.get_by_placeholder("Add a model")
    model.fill("open/m-1")
    model.press("Enter")
    return Form(dialog, field, dialog.get_by_role("button", name="Save"), "quick")


FORMS = [key_form, account_form, combo_form]
FillForm = Callable[[Person], Form]


def refuse(page: Page) -> None:
    """The gateway refuses every change."""

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            route.continue_()
        else:
            route.fulfill(status=500, json={"error": "The disk is full", "request_id": "r-1"})

    page.route("**/api/**", answer)


def sign_in_again(page: Page) -> None:
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Your session has ended")).to_be_hidden()


@pytest.mark.parametrize("fill", FORMS)
def test_a_refused_change_keeps_what_was_typed(someone: Person, fill: FillForm) -> None:
    form = fill(someone)
    refuse(someone.page)
    form.save.click()

    expect(form.dialog.get_by_text("The disk is full")).to_be_visible()
    expect(form.field).to_have_value(form.typed)
    someone.page.unroute("**/api/**")
    form.save.click()
    expect(form.dialog).to_be_hidden()


@pytest.mark.parametrize("fill", FORMS)
def test_the_end_of_a_session_keeps_what_was_typed(someone: Person, fill: FillForm) -> None:
    form = fill(someone)
    someone.call("DELETE", "/api/auth/sessions")
    form.save.click()
    sign_in_again(someone.page)

    expect(form.field).to_be_visible()
    expect(form.field).to_have_value(form.typed)
    form.save.click()
    expect(form.dialog).to_be_hidden()


def test_a_lost_network_is_shown_and_keeps_what_was_typed(someone: Person) -> None:
    form = key_form(someone)
    someone.context.set_offline(True)
    form.save.click()

    expect(form.dialog.get_by_text("The gateway does not answer")).to_be_visible()
    expect(form.field).to_have_value(form.typed)
    someone.context.set_offline(False)
    form.save.click()
    expect(someone.page.get_by_role("dialog", name="The new key")).to_be_visible()


def test_a_page_without_a_network_says_so_and_comes_back(someone: Person) -> None:
    page = someone.visit("requests?model=nothing")
    expect(page.get_by_text("No request matches")).to_be_visible()
    someone.context.set_offline(True)
    page.get_by_text("30 days").click()
    alert = page.get_by_role("alert").filter(has_text="The gateway does not answer")
    expect(alert.first).to_be_visible()
    someone.context.set_offline(False)
    expect(alert).to_have_count(0)
    expect(page.get_by_text("No request matches")).to_be_visible()

    someone.context.set_offline(True)
    page.get_by_role("link", name="Combos").click()
    expect(page.get_by_role("alert")).to_contain_text("The files of this page did not arrive")
    someone.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No combos yet")).to_be_visible()


def test_live_figures_go_on_after_signing_in_again(someone: Person) -> None:
    page = someone.visit("overview")
    expect(page.get_by_text("0 requests under way")).to_be_visible()
    someone.call("DELETE", "/api/auth/sessions")
    # Not clicked: the sign-in may cover it already.
    page.get_by_text("7 days").dispatch_event("click")
    sign_in_again(page)

    expect(page.get_by_text("0 requests under way")).to_be_visible()


def two_tabs(someone: Person, path: str) -> tuple[Page, Page]:
    page = someone.visit(path)
    other = someone.new_page()
    other.goto(page.url)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(other.get_by_role("heading", level=1)).to_be_visible()
    return page, other


def test_signing_out_in_one_tab_signs_out_the_other(someone: Person) -> None:
    page, other = two_tabs(someone, "overview")
    page.get_by_role("button", name="admin").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(other.get_by_role("heading", name="Overview")).to_have_count(0)
    expect(other.get_by_text("Your session has ended")).to_be_hidden()


def test_signing_in_again_in_one_tab_is_enough_for_both(someone: Person) -> None:
    page, other = two_tabs(someone, "combos")
    someone.call("DELETE", "/api/auth/sessions")
    for each in (page, other):
        each.locator("a[href$='/media']").dispatch_event("click")
        expect(each.get_by_text("Your session has ended")).to_be_visible()

    sign_in_again(page)

    expect(other.get_by_text("Your session has ended")).to_be_hidden()
    expect(other.get_by_role("heading", name="Media routes")).to_be_visible()


def test_a_change_in_one_tab_is_seen_in_the_other(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/keys", {"name": "laptop", "machineId": "any"})
    page, other = two_tabs(someone, "keys")
    table = other.get_by_role("table", name="Keys")
    expect(table).to_contain_text("laptop")
    page.get_by_role("table", name="Keys").get_by_text("laptop", exact=True).click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("laptop is paused")).to_be_visible()

    other.bring_to_front()

    expect(table.get_by_role("img", name="Paused")).to_be_visible()
