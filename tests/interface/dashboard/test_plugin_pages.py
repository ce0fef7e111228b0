"""Pages that plugins add: in the menu, with the operator's session, and only if listed."""

import re
from collections.abc import Iterator

import pytest
from dashboard_browser import ROOT, VARIABLES, person
from drop_ins import folder_in
from playwright.sync_api import Browser, expect
from served_gateway import Served, serve_gateway

TRUSTED = {**VARIABLES, "GATEWAY_TRUST_PLUGINS": "quota"}


def example() -> str:
    """The plugin of the documentation's page."""
    page = (ROOT / "docs" / "dashboard.md").read_text("utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    folder_in(folder, quota=example())
    with serve_gateway(folder, {}, variables=TRUSTED) as running:
        yield running


def test_a_plugins_page_is_in_the_menu_and_may_ask_the_gateway(
    browser: Browser, here: Served
) -> None:
    with person(browser, here) as someone:
        someone.call("POST", "/api/keys", {"name": "one", "machineId": "any"})
        page = someone.visit("keys")
        page.get_by_role("link", name="Quota").click()

        expect(page.get_by_role("heading", name="Quota")).to_be_visible()
        expect(page.get_by_text("1 keys")).to_be_visible()
        assert page.url.endswith("/dashboard/pages/quota/page.js")


def test_an_address_runs_no_script_that_is_not_listed(browser: Browser, here: Served) -> None:
    with person(browser, here) as someone:
        page = someone.visit("pages/dashboard/early.js")

        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
