"""The page of providers: accounts are added, tested, paused, ordered and deleted; nodes too."""

from dashboard_browser import Person, ask, last_call
from playwright.sync_api import Locator, Page, Route, expect
from served_gateway import Served


def add(someone: Person, name: str, key: str = "sk-1") -> None:
    someone.call("POST", "/api/providers", {"provider": "acme", "name": name, "apiKey": key})


def names(someone: Person) -> list[str]:
    stored = someone.call("GET", "/api/providers")["connections"]
    return [each["name"] for each in stored if each["provider"] == "acme"]


def actions(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"More: {name}").click()


def test_an_account_is_added_from_the_gallery_and_tested(here: Served, someone: Person) -> None:
    page = someone.visit("providers")
    page.get_by_label("Search vendors").fill("acm")
    page.get_by_role("button", name="Acme").click()
    form = page.get_by_role("dialog", name="Add an account at Acme")
    form.get_by_role("textbox", name="API key").fill("sk-acme")
    form.get_by_role("button", name="Test the key").click()
    expect(form.get_by_text("The vendor accepts the key")).to_be_visible()
    form.get_by_role("button", name="Save and test").click()

    sheet = page.get_by_role("dialog", name="Acme · main")
    expect(sheet.get_by_text("Answers").first).to_be_visible()
    assert names(someone) == ["main"]
    received = here.vendors["openai"].received[-1]
    assert received.headers["authorization"] == "Bearer sk-acme"


def test_an_account_is_paused_and_used_again(someone: Person) -> None:
    add(someone, "first")
    page = someone.visit("providers")
    actions(page, "first")
    page.get_by_role("menuitem", name="Pause").click()

    expect(page.get_by_text("first is paused")).to_be_visible()
    assert someone.call("GET", "/api/providers")["connections"][0]["isActive"] is False
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("first is used again")).to_be_visible()
    assert someone.call("GET", "/api/providers")["connections"][0]["isActive"] is True


def test_an_open_menu_outlives_the_figures_that_come_meanwhile(someone: Person) -> None:
    """Each answer that the table shows makes its columns anew."""
    add(someone, "first")
    held: list[Route] = []
    someone.page.route("**/api/usage/stats*", lambda route: held.append(route))
    page = someone.visit("providers")
    actions(page, "first")
    page.evaluate(
        """() => {
            window.pauseButton = [...document.querySelectorAll('[role=menuitem]')]
                .find((item) => item.textContent.includes('Pause'));
        }"""
    )
    with page.expect_response("**/api/usage/stats*"):
        held.pop().continue_()
    expect(page.get_by_role("row").nth(1)).to_contain_text("$0")

    assert page.evaluate("window.pauseButton.isConnected")
    page.get_by_role("menuitem", name="Pause").click()
    expect(page.get_by_text("first is paused")).to_be_visible()


def test_the_order_of_accounts_is_changed(someone: Person) -> None:
    add(someone, "first")
    add(someone, "second")
    page = someone.visit("providers")
    with page.expect_response("**/api/providers/reorder"):
        page.get_by_role("button", name="Move up").nth(1).click()

    rows = page.get_by_role("table", name="Accounts").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("second")
    assert names(someone) == ["second", "first"]


def test_an_account_is_deleted_after_a_question(someone: Person) -> None:
    add(someone, "old")
    page = someone.visit("providers")
    actions(page, "old")
    page.get_by_role("menuitem", name="Delete").click()
    question = page.get_by_role("dialog", name="Delete the account old?")
    question.get_by_role("button", name="Cancel").click()
    assert names(someone) == ["old"]
    actions(page, "old")
    page.get_by_role("menuitem", name="Delete").click()
    question.get_by_role("button", name="Delete").click()

    expect(page.get_by_text("old is deleted")).to_be_visible()
    assert names(someone) == []


def test_a_node_is_added(here: Served, someone: Person) -> None:
    page = someone.visit("providers")
    page.get_by_role("button", name="Add a node").first.click()
    form = page.get_by_role("dialog", name="Add a node")
    form.get_by_label("Name").fill("Lab")
    form.get_by_label("Prefix").fill("lab")
    form.get_by_label("Base URL").fill(f"{here.vendors['openai'].url}/v1")
    form.get_by_role("button", name="Create").click()

    expect(page.get_by_role("table", name="Nodes")).to_contain_text("lab/")
    (node,) = someone.call("GET", "/api/provider-nodes")["nodes"]
    assert node["prefix"] == "lab"


def opened(page: Page, name: str) -> Locator:
    """The sheet of an account, with all of its fields."""
    page.get_by_role("table", name="Accounts").get_by_text(name, exact=True).click()
    sheet = page.get_by_role("dialog", name=f"Acme · {name}")
    sheet.get_by_role("button", name="Further fields").click()
    return sheet


def key_of_the_last_call(here: Served) -> str:
    return last_call(here, "openai").headers["authorization"]


def test_the_account_that_is_put_first_gets_the_calls(here: Served, someone: Person) -> None:
    add(someone, "first", "sk-1")
    add(someone, "second", "sk-2")
    ask(here, "acme/large")
    assert key_of_the_last_call(here) == "Bearer sk-1"
    page = someone.visit("providers")
    sheet = opened(page, "second")
    sheet.get_by_label("Order").fill("1")
    sheet.get_by_role("button", name="Save and test").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()

    assert names(someone) == ["second", "first"]
    ask(here, "acme/large")
    assert key_of_the_last_call(here) == "Bearer sk-2"


def test_an_account_uses_its_own_proxy(here: Served, someone: Person) -> None:
    """Only of calls to other machines, as the vendor's address here says it is."""
    add(someone, "main")
    page = someone.visit("providers")
    sheet = opened(page, "main")
    sheet.get_by_label("Base URL").fill("http://acme.test/v1")
    sheet.get_by_label("Proxy", exact=True).fill(here.vendors["openai"].url)
    sheet.get_by_role("button", name="Save and test").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    sheet.get_by_role("button", name="Test", exact=True).click()
    expect(sheet.get_by_text("The vendor accepts the key")).to_be_visible()

    ask(here, "acme/large")
    assert here.rows()[0].status == "ok"
    assert last_call(here, "openai").target == "http://acme.test:80/v1/chat/completions"
    sheet.get_by_label("Proxy", exact=True).fill("http://127.0.0.1:9")
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
        sheet.get_by_role("button", name="Save and test").click()
    assert saved.value.ok
    sheet.get_by_role("button", name="Test", exact=True).click()
    expect(sheet.get_by_role("alert")).to_be_visible()
