"""From an address on a terminal to a first answer, with the printed command as it is copied."""

import re
import subprocess
import time
from pathlib import Path

import pytest
from dashboard_browser import person
from playwright.sync_api import Browser, Page, expect
from served_gateway import serve_gateway

LIMIT = 60
"""Seconds that a first answer may take."""
SLOW = (6, 60)
"""Times; with each of two faults that these have shown, half of the first runs began elsewhere."""
VARIABLES = {"JWT_SECRET": "signs-the-sessions-of-a-test-and-nothing-else"}
"""Without a password, as on a fresh machine."""


def choose_password(page: Page, password: str) -> None:
    page.get_by_label("New password").fill(password)
    page.get_by_label("The same again").fill(password)
    page.get_by_role("button", name="Set the password and go on").click()


def test_the_first_answer(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_gateway(tmp_path, {}, variables=VARIABLES) as here,
        person(browser, here, signed_in=False) as someone,
    ):
        begun = time.monotonic()
        page = someone.page
        page.goto(here.url)
        choose_password(page, "correct horse")
        expect(page.get_by_role("heading", name="Get started")).to_be_visible()
        page.get_by_role("button", name="Use echo for now").click()
        page.get_by_role("button", name="Make the key").click()
        command = page.locator("pre").inner_text()
        written = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, timeout=LIMIT, check=True
        )

        assert '"content":"Hello"' in written.stdout.replace(" ", "")
        expect(page.get_by_text("echo has answered")).to_be_visible()
        took = time.monotonic() - begun
        print(f"the first answer took {took:.1f} s")
        assert took < LIMIT
        key = re.search(r"Bearer (sk-\S+)\"", command)
        assert key is not None
        (row,) = here.rows()
        assert (row.provider, row.status) == ("echo", "ok")
        assert row.api_key_id is not None


@pytest.mark.parametrize("times", SLOW)
def test_a_slow_browser_begins_with_the_first_steps_too(
    browser: Browser, tmp_path: Path, times: int
) -> None:
    """The router shows a new address late there, after the answer that opens the pages."""
    with (
        serve_gateway(tmp_path, {}, variables=VARIABLES) as here,
        person(browser, here, signed_in=False) as someone,
    ):
        page = someone.page
        page.goto(here.url)
        page.get_by_label("New password").fill("correct horse")
        page.get_by_label("The same again").fill("correct horse")
        throttled = someone.context.new_cdp_session(page)
        throttled.send("Emulation.setCPUThrottlingRate", {"rate": times})
        page.get_by_label("The same again").press("Enter", timeout=LIMIT * 1000)

        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=LIMIT * 1000)
        throttled.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        expect(page.get_by_role("heading", name="Get started")).to_be_visible()


def test_the_password_that_was_chosen_is_the_one_that_counts(
    browser: Browser, tmp_path: Path
) -> None:
    with serve_gateway(tmp_path, {}, variables=VARIABLES) as here:
        with person(browser, here, signed_in=False) as someone:
            page = someone.visit("")
            choose_password(page, "correct horse")
            expect(page.get_by_role("heading", name="Get started")).to_be_visible()
        with person(browser, here, signed_in=False) as someone:
            page = someone.visit("requests")
            page.get_by_role("textbox", name="Password").fill("123456")
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_text("4 attempts are left")).to_be_visible()
            page.get_by_role("textbox", name="Password").fill("correct horse")
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()


def test_without_a_secret_the_page_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_gateway(tmp_path, {}, variables={"JWT_SECRET": ""}) as here,
        person(browser, here, signed_in=False) as someone,
    ):
        page = someone.visit("")
        choose_password(page, "correct horse")

        expect(page.get_by_text("Signing in is not set up yet")).to_be_visible()
        expect(page.get_by_text("JWT_SECRET=")).to_be_visible()
