"""The API reference: made of the gateway's own document, without another origin."""

from dashboard_browser import Person
from playwright.sync_api import expect


def test_a_route_is_found_with_its_body_and_a_call_that_works(someone: Person) -> None:
    received: list[str] = []
    someone.page.on("request", lambda request: received.append(request.url))
    page = someone.visit("api")
    page.get_by_label("Search routes").fill("create the api key")

    page.get_by_role("row", name="/api/keys").click()

    sheet = page.get_by_role("dialog", name="Create the API key")
    expect(sheet.get_by_label("Body")).to_contain_text('"name"')
    expect(sheet.get_by_label("As curl")).to_contain_text(f"curl -X POST {someone.url}/api/keys")
    expect(sheet.get_by_text("An API key without any restriction may also write")).to_be_visible()
    assert all(url.startswith(someone.url) for url in received)


def test_a_plugins_route_is_in_it(someone: Person) -> None:
    page = someone.visit("api?search=/v1/batches")

    expect(page.get_by_role("row", name="/v1/batches").first).to_be_visible()
