"""The pages of models and of media routes."""

import httpx2
from dashboard_browser import Person
from playwright.sync_api import expect
from served_gateway import Served

MESSAGES = [{"role": "user", "content": "Hello"}]
ACCOUNT = {"provider": "acme", "name": "Team", "apiKey": "k-1"}


def status(here: Served, model: str) -> int:
    url = f"{here.url}/v1/chat/completions"
    body = {"model": model, "messages": MESSAGES}
    return httpx2.post(url, json=body, trust_env=False, timeout=30).status_code


def test_a_model_gets_an_alias_that_programs_can_call(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/providers", ACCOUNT)
    page = someone.visit("models?search=acme/large")
    page.get_by_role("table", name="Models").get_by_text("acme/large", exact=True).click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("128,000 tokens")
    sheet.get_by_label("Alias").fill("best")
    sheet.get_by_role("button", name="Save").click()

    expect(page.get_by_text("best means acme/large")).to_be_visible()
    assert status(here, "best") == 200


def test_a_model_is_disabled_and_enabled_again(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/providers", ACCOUNT)
    page = someone.visit("models?search=acme/small")
    table = page.get_by_role("table", name="Models")
    table.get_by_text("acme/small", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(page.get_by_text("acme/small is disabled")).to_be_visible()
    listed = httpx2.get(f"{here.url}/v1/models", trust_env=False).json()["data"]
    assert "acme/small" not in [model["id"] for model in listed]

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("acme/small is enabled")).to_be_visible()
    listed = httpx2.get(f"{here.url}/v1/models", trust_env=False).json()["data"]
    assert "acme/small" in [model["id"] for model in listed]


def test_models_are_tested_at_once_with_results_as_they_come(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/providers", ACCOUNT)
    before = len(here.vendors["openai"].received)
    page = someone.visit("models?provider=acme")
    page.get_by_role("button", name="Test 2 models").click()
    page.get_by_role("dialog").get_by_role("button", name="Test").click()

    rows = page.get_by_role("table", name="Models").get_by_role("row")
    for name in ("acme/large", "acme/small"):
        expect(rows.filter(has_text=name)).to_contain_text(" ms")
    assert len(here.vendors["openai"].received) >= before + 2


def test_a_model_of_ones_own_is_added_and_answers(here: Served, someone: Person) -> None:
    someone.call("POST", "/api/providers", ACCOUNT)
    page = someone.visit("models?provider=acme")
    page.get_by_role("button", name="Add a model").click()
    dialog = page.get_by_role("dialog", name="Add a model")
    dialog.get_by_label("Provider").first.fill("acme")
    page.get_by_role("option", name="acme", exact=True).click()
    dialog.get_by_label("Model").first.fill("brand-new")
    dialog.get_by_role("button", name="Add").click()

    expect(page.get_by_role("table", name="Models")).to_contain_text("brand-new")
    assert status(here, "acme/brand-new") == 200


def test_a_media_route_is_chosen_and_given_back(here: Served, someone: Person) -> None:
    def routes() -> dict[str, list[str]]:
        reported = someone.call("GET", "/api/media-providers/routes")["routes"]
        return {route["id"]: route["saved"] for route in reported}

    reported = someone.call("GET", "/api/media-providers/routes")["routes"]
    route = next(each for each in reported if len(each["candidates"]) >= 1)
    model = route["candidates"][-1]["id"]
    page = someone.visit("media")
    field = page.get_by_label(f"Add a model: {route['label']}", exact=True).first
    field.fill(model)
    page.get_by_role("option", name=model, exact=True).click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Chosen by you")).to_be_visible()
    assert routes()[route["id"]] == [model]

    page.get_by_role("button", name="Choose by itself").click()
    expect(page.get_by_text("Chosen by you")).to_be_hidden()
    assert routes()[route["id"]] == []


def test_only_some_models_of_a_provider_are_listed(here: Served, someone: Person) -> None:
    def listed() -> list[str]:
        rows = httpx2.get(f"{here.url}/v1/models", trust_env=False).json()["data"]
        return [row["id"] for row in rows if row["id"].startswith("acme/")]

    someone.call("POST", "/api/providers", ACCOUNT)
    page = someone.visit("models?provider=acme")
    page.get_by_role("button", name="Listed models").click()
    dialog = page.get_by_role("dialog", name="Listed models of acme")
    dialog.get_by_label("Listed models").fill("small")
    page.get_by_role("option", name="small", exact=True).click()
    dialog.get_by_label("Listed models").press("Tab")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 model of acme is listed")).to_be_visible()
    expect(page.get_by_role("table", name="Models")).not_to_contain_text("acme/large")
    assert listed() == ["acme/small"]

    page.get_by_role("button", name="Listed models").click()
    dialog.get_by_role("button", name="List all").click()
    expect(page.get_by_text("All models of acme are listed")).to_be_visible()
    expect(page.get_by_role("table", name="Models")).to_contain_text("acme/large")
    assert {"acme/small", "acme/large"} <= set(listed())
