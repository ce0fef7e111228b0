"""The first steps with a real vendor: from an address on a terminal to the vendor's answer."""

import subprocess
from pathlib import Path

from dashboard_browser import acme, answer, person
from playwright.sync_api import Browser, expect
from served_gateway import serve_gateway

LIMIT = 60
"""Seconds that a printed command may take."""
VARIABLES = {"JWT_SECRET": "signs-the-sessions-of-a-test-and-nothing-else"}
"""Without a password, as on a fresh machine."""


def test_the_first_answer_of_a_vendor(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_gateway(tmp_path, {"openai": answer}, specs=acme, variables=VARIABLES) as here,
        person(browser, here, signed_in=False) as someone,
    ):
        page = someone.page
        page.goto(here.url)
        page.get_by_label("New password").fill("correct horse")
        page.get_by_label("The same again").fill("correct horse")
        page.get_by_role("button", name="Set the password and go on").click()
        page.get_by_role("button", name="Add an account").click()
        page.get_by_label("Search vendors").fill("acm")
        page.get_by_role("button", name="Acme").click()
        form = page.get_by_role("dialog", name="Add an account at Acme")
        form.get_by_role("textbox", name="API key").fill("sk-acme-first")
        form.get_by_role("button", name="Test the key").click()
        expect(form.get_by_text("The vendor accepts the key")).to_be_visible()
        form.get_by_role("button", name="Save and test").click()
        expect(form).to_be_hidden()
        expect(page.get_by_text("1 account is ready")).to_be_visible()
        page.get_by_role("button", name="Make the key").click()
        # The vendor's model, not the one that needs no account.
        command = page.locator("pre").filter(has_text="acme/").inner_text()
        written = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, timeout=LIMIT, check=True
        )

        assert "Hello from Acme" in written.stdout
        expect(page.get_by_text("has answered")).to_be_visible()
        # Others ask which models there are.
        received = [each for each in here.vendors["openai"].received if each.body][-1]
        assert received.json()["model"] == "large"
        assert received.headers["authorization"] == "Bearer sk-acme-first"
        row, *tests = here.rows()
        (account,) = someone.call("GET", "/api/providers")["connections"]
        (key,) = someone.call("GET", "/api/keys")["keys"]
        assert [each.endpoint.rpartition("/")[2] for each in tests] == ["test", "validate"]
        assert (row.provider, row.status) == ("acme", "ok")
        assert (row.connection_id, row.api_key_id) == (account["id"], key["id"])
        page.get_by_role("link", name="Look at it").click()
        rows = page.get_by_role("table", name="Requests").get_by_role("row")
        expect(rows).to_have_count(4)
        expect(rows.nth(1)).to_contain_text("first-key")
