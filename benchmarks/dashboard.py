"""The dashboard's first page: its bytes, and its time in a browser on this machine."""

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from .answers import BY_NAME
from .peers import OWN
from .stage import Stage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
"""Debian's; ``apt-get install chromium``."""
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
VARIABLES = {
    "JWT_SECRET": "signs-the-sessions-of-a-measurement-and-nothing-else",
    "INITIAL_PASSWORD": "of the measurement",
}
LOADS = 5
CALLS = 200
_FILES = """
() => performance.getEntriesByType("resource")
    .filter(each => new URL(each.name).pathname.startsWith("/dashboard"))
    .reduce((sum, each) => sum + each.encodedBodySize, 0)
    + performance.getEntriesByType("navigation")[0].encodedBodySize
"""


class NoBrowser(Exception):
    """What the part needs is not there."""


class FirstPage(Struct, frozen=True, kw_only=True, rename="camel"):
    """Medians of several loads with nothing in the browser's cache, and with calls to show."""

    sign_in_bytes: int
    """Of files, as they are sent, until a person can sign in."""
    overview_bytes: int
    """The same for a person who is signed in, with the charts."""
    overview: float
    """Seconds until the overview shows its charts."""
    overview_high: float
    overview_work: float
    """Processor time of the page's main thread until nothing more is loaded, in seconds."""
    overview_script: float
    """Those of them that scripts took."""


class _Load(Struct, frozen=True):
    size: int
    """Bytes of the dashboard's files."""
    seconds: float
    work: float
    script: float


def load_pages(stage: Stage) -> FirstPage:
    """Load the first page several times. Raises NoBrowser, DidNotStart."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoBrowser("Playwright is not installed") from error
    if not CHROMIUM.exists():
        raise NoBrowser(f"{CHROMIUM} is not there")
    with (
        stage.running_peer(OWN, variables=VARIABLES) as running,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        address = f"http://127.0.0.1:{running.port}"
        # An overview without calls loads no charts.
        stage.sample(running, BY_NAME["plain"], 1024, connections=1, count=CALLS)
        sign_in = _load(browser, address, is_signed_in=False)
        loads = [_load(browser, address, is_signed_in=True) for _ in range(LOADS)]
        browser.close()
    return FirstPage(
        sign_in_bytes=sign_in.size,
        overview_bytes=max(each.size for each in loads),
        overview=statistics.median(each.seconds for each in loads),
        overview_high=max(each.seconds for each in loads),
        overview_work=statistics.median(each.work for each in loads),
        overview_script=statistics.median(each.script for each in loads),
    )


def _load(browser: "Browser", address: str, *, is_signed_in: bool) -> _Load:
    """Measure a load without anything in the cache."""
    context = browser.new_context()
    if is_signed_in:
        body = {"password": VARIABLES["INITIAL_PASSWORD"]}
        login = f"{address}/api/auth/login"
        answer = context.request.post(login, data=body, headers={"origin": address})
        assert answer.ok, answer.text()
    page = context.new_page()
    inspector = context.new_cdp_session(page)
    # Of the thread itself: what other programs do on the machine is not in it.
    inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    begun = time.perf_counter()
    page.goto(f"{address}/dashboard/overview", wait_until="commit")
    heading = "Overview" if is_signed_in else "Sign in"
    page.get_by_role("heading", name=heading).wait_for()
    if is_signed_in:
        page.locator("figure path").first.wait_for()
    seconds = time.perf_counter() - begun
    page.wait_for_load_state("networkidle")
    counted = inspector.send("Performance.getMetrics")["metrics"]
    metrics = {each["name"]: each["value"] for each in counted}
    size = int(page.evaluate(_FILES))
    context.close()
    return _Load(size, seconds, metrics["TaskDuration"], metrics["ScriptDuration"])
