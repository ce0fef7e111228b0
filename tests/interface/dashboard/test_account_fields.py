"""The form of an account: fields by the vendor's schema, proxies that accounts share, rests."""

from collections.abc import Iterator
from typing import Any

import pytest
from dashboard_browser import MODELS, VARIABLES, Person, acme, answer, ask
from fake_vendor import MockResponse, ReceivedRequest
from playwright.sync_api import Browser, Locator, Page, Route, expect
from served_gateway import Served, serve_gateway

from gateway_core import AccountField, Auth, Credential, ProviderSpec, Target

REGIONS = ("eu-1", "us-1")
REFUSED = b'{"error":{"message":"No such key","type":"invalid_key","code":null}}'
PROXY_TEST = "http://check.test:80/ok"
WRONG_KEY = "sk-wrong"


def reply(received: ReceivedRequest) -> MockResponse:
    """The vendor's answer, or that of a proxy that fetches a page."""
    if received.target == PROXY_TEST:
        return MockResponse((b"ok",))
    if received.headers.get("authorization", "").startswith(f"Bearer {WRONG_KEY}"):
        return MockResponse((REFUSED,), 401)
    return answer(received)


def specs(vendors: Any) -> list[ProviderSpec]:
    """A vendor whose addresses are made of what its accounts hold, besides the usual ones."""
    base = f"{vendors['openai'].url}/v1"

    def address(target: Target, credential: Credential, path: str) -> str:
        data = credential.data
        return f"{base}/{data.get('accountId')}/{data.get('region') or REGIONS[0]}{path}"

    regional = ProviderSpec(
        id="regional",
        name="Regional",
        base_url=base,
        models_url=f"{base}/models",
        url_builder=address,
        models=MODELS,
        auth=Auth(type="bearer"),
        account_fields=(
            AccountField(
                name="accountId",
                title="Account ID",
                needed=True,
                examples=("team42",),
                pattern="^[a-z0-9]+$",
            ),
            AccountField(
                name="region",
                title="Region",
                default=REGIONS[0],
                examples=REGIONS,
                pattern="^[a-z]+-[0-9]$",
            ),
        ),
    )
    return [regional, *acme(vendors)]


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    variables = {**VARIABLES, "GATEWAY_PROXY_TEST_URL": PROXY_TEST}
    with serve_gateway(folder, {"openai": reply}, specs=specs, variables=variables) as running:
        yield running


def stored(someone: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = someone.call("GET", "/api/providers")["connections"]
    return found


def new_account(someone: Person, vendor: str) -> tuple[Page, Locator]:
    """The form of a new account, with its key."""
    page = someone.visit("providers")
    page.get_by_label("Search vendors").fill(vendor)
    page.get_by_role("button", name=vendor).click()
    form = page.get_by_role("dialog", name=f"Add an account at {vendor}")
    form.get_by_role("textbox", name="API key").fill("sk-1")
    return page, form


def opened(page: Page, name: str) -> Locator:
    """The sheet of an account, with all of its fields."""
    page.get_by_role("table", name="Accounts").get_by_text(name, exact=True).click()
    sheet = page.get_by_role("dialog", name=name)
    sheet.get_by_role("button", name="Further fields").click()
    return sheet


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name="Accounts").get_by_role("row", name=name)


def test_fields_come_from_the_vendors_schema_and_calls_use_them(
    here: Served, someone: Person
) -> None:
    page, form = new_account(someone, "Regional")
    account = form.get_by_role("combobox", name="Account ID")
    account.fill("team 42")
    account.press("Tab")
    expect(form.get_by_text("not of the form that is expected, such as team42")).to_be_visible()
    expect(account).to_have_attribute("aria-invalid", "true")
    form.get_by_role("button", name="Save and test").click()
    expect(account).to_be_visible()
    assert stored(someone) == []

    account.fill("team42")
    form.get_by_role("button", name="Save and test").click()
    sheet = page.get_by_role("dialog", name="Regional · main")
    expect(sheet.get_by_text("Answers").first).to_be_visible()
    ask(here, "regional/large")
    calls = here.vendors["openai"].received
    assert calls[-1].target == "/v1/team42/eu-1/chat/completions"

    sheet.get_by_role("button", name="Further fields").click()
    region = sheet.get_by_role("combobox", name="Region")
    region.fill("eu 1")
    sheet.get_by_role("button", name="Save and test").click()
    expect(region).to_have_attribute("aria-invalid", "true")
    region.fill("us")
    page.get_by_role("option", name="us-1").click()
    sheet.get_by_role("button", name="Save and test").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    ask(here, "regional/large")
    assert calls[-1].target == "/v1/team42/us-1/chat/completions"


def test_a_wrong_address_is_shown_at_its_field(someone: Person) -> None:
    _, form = new_account(someone, "Acme")
    form.get_by_role("button", name="Further fields").click()
    address = form.get_by_role("textbox", name="Base URL")
    address.fill("acme.test/v1")
    form.get_by_role("textbox", name="Proxy", exact=True).fill("localhost:3128")
    form.get_by_role("button", name="Save and test").click()

    expect(form.get_by_text("This is no address")).to_be_visible()
    expect(form.get_by_text("This is no proxy's address")).to_be_visible()
    assert stored(someone) == []


def test_what_only_the_gateway_knows_to_be_wrong_is_shown_at_its_field(someone: Person) -> None:
    """As where the schema has a pattern that browsers do not understand."""

    def without_patterns(route: Route) -> None:
        body = route.fetch().json()
        for vendor in body["vendors"]:
            for member in vendor["accountSchema"].get("properties", {}).values():
                member.pop("pattern", None)
        route.fulfill(json=body)

    someone.page.route("**/api/vendors", without_patterns)
    _, form = new_account(someone, "Regional")
    form.get_by_role("combobox", name="Account ID").fill("team42")
    form.get_by_role("button", name="Further fields").click()
    region = form.get_by_role("combobox", name="Region")
    region.fill("eu 1")
    form.get_by_role("button", name="Save and test").click()

    expect(form.get_by_text("The gateway refuses this value")).to_be_visible()
    expect(region).to_have_attribute("aria-invalid", "true")
    assert stored(someone) == []


def test_accounts_share_a_proxy(here: Served, someone: Person) -> None:
    account = {"provider": "acme", "name": "main", "apiKey": "sk-1"}
    account_id = someone.call("POST", "/api/providers", account)["connection"]["id"]
    page = someone.visit("providers")
    page.get_by_role("button", name="Add a proxy pool").click()
    form = page.get_by_role("dialog", name="Add a proxy pool")
    form.get_by_role("textbox", name="Name").fill("Office")
    form.get_by_role("textbox", name="Address").fill("ftp://proxy.test")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_role("alert")).to_contain_text("must be http, https, socks5 or socks5h")
    form.get_by_role("textbox", name="Address").fill(here.vendors["openai"].url)
    form.get_by_role("button", name="Create").click()
    expect(form).to_be_hidden()
    pools = page.get_by_role("table", name="Proxy pools")
    pools.get_by_role("button", name="Test Office").click()
    expect(pools.get_by_text("Works")).to_be_visible()
    assert here.vendors["openai"].received[-1].target == PROXY_TEST

    sheet = opened(page, "main")
    sheet.get_by_role("textbox", name="Base URL").fill("http://acme.test/v1")
    sheet.get_by_role("textbox", name="API key").fill("sk-1")
    sheet.get_by_role("combobox", name="Proxy pool").or_(
        sheet.get_by_role("textbox", name="Proxy pool")
    ).first.click()
    page.get_by_role("option", name="Office").click()
    sheet.get_by_role("button", name="Save and test").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    ask(here, "acme/large")
    assert here.vendors["openai"].received[-1].target == "http://acme.test:80/v1/chat/completions"
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    pools.get_by_role("button", name="Delete Office").click()
    question = page.get_by_role("dialog", name="Delete the proxy pool Office?")
    question.get_by_role("button", name="Delete").click()
    expect(question.get_by_role("alert")).to_contain_text("currently in use")
    someone.call("DELETE", f"/api/providers/{account_id}")
    question.get_by_role("button", name="Delete").click()
    expect(question).to_be_hidden()
    assert someone.call("GET", "/api/proxy-pools")["proxyPools"] == []


def test_the_rest_of_one_account_is_ended(here: Served, someone: Person) -> None:
    ids = {}
    for name in ("first", "second"):
        body = {"provider": "acme", "name": name, "apiKey": f"{WRONG_KEY}-{name}"}
        ids[name] = someone.call("POST", "/api/providers", body)["connection"]["id"]
    ask(here, "acme/large")
    calls = here.vendors["openai"].received
    asked = len(calls)
    ask(here, "acme/large")
    assert len(calls) == asked  # both rest

    page = someone.visit("providers")
    expect(row(page, "first")).to_contain_text("Rests until")
    expect(row(page, "second")).to_contain_text("Rests until")
    page.get_by_role("button", name="More: second").click()
    page.get_by_role("menuitem", name="End the rest").click()
    expect(page.get_by_text("The account is used again at once")).to_be_visible()
    expect(row(page, "second")).not_to_contain_text("Rests until")
    expect(row(page, "first")).to_contain_text("Rests until")

    ask(here, "acme/large")
    assert [call.headers["authorization"] for call in calls[asked:]] == [
        f"Bearer {WRONG_KEY}-second"
    ]
    sheet = opened(page, "first")
    sheet.get_by_role("button", name="End the rest").click()
    expect(sheet.get_by_role("button", name="End the rest")).to_be_hidden()
    resting = someone.call("GET", "/api/models/availability")["models"]
    assert ids["first"] not in {each["connectionId"] for each in resting}
