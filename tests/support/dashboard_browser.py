"""The dashboard as a person sees it: a real browser on a gateway that runs."""

import fcntl
import re
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from javascript import install
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)
from served_gateway import Served, keyless_provider

from gateway_core import Auth, Model, Price, ProviderSpec

ROOT = Path(__file__).parents[2]
REGISTRY = ROOT / "plugins" / "extensions" / "dashboard" / "web" / "src" / "pages" / "registry.ts"
PATHS = re.findall(r'\{ path: "([a-z-]+)"', REGISTRY.read_text("utf-8"))
"""The pages, in the order of the menu."""
# The page of the database asks for the password before it reads anything; it has tests of its own.
READING = [path for path in PATHS if path != "database"]
CHROMIUM = "/usr/bin/chromium"
"""Debian's; ``apt-get install chromium``."""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PASSWORD = "correct horse"
VARIABLES = {
    "JWT_SECRET": "signs-the-sessions-of-a-test-and-nothing-else",
    "INITIAL_PASSWORD": PASSWORD,
}
"""For a gateway that is signed in to."""
DESKTOP = (1280, 800)
PHONE = (375, 812)
SERIOUS = ("serious", "critical")
PATIENCE_MS = 15_000
"""For what a person waits for; the machine may be busy."""
MODELS = (
    Model("large", name="Acme Large", context=128_000, price=Price(input=3, output=15)),
    Model("small", name="Acme Small", context=32_000, price=Price(input=0.2, output=0.8)),
)
REPLY = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"large","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hello from Acme"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42}}'
)
CHUNK = (
    b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"large","choices":[{"index":0,'
    b'"delta":{"role":"assistant","content":"Hello from Acme"},"finish_reason":%s}]%s}'
)
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk"
    "Jggg=="
)
"""A picture of one pixel, in base64."""
USAGE = b',"usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42}'


def ensure_built() -> None:
    """Build the application where it is missing or older than its sources."""
    web_build = runpy.run_path(str(ROOT / "plugins" / "extensions" / "dashboard" / "web_build.py"))
    (ROOT / ".tools").mkdir(exist_ok=True)
    with open(ROOT / ".tools" / "dashboard.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not web_build["is_current"]():
            web_build["build"]()


@contextmanager
def launched() -> Iterator[Browser]:
    """Chromium without a window."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def answer(received: ReceivedRequest) -> MockResponse:
    """A vendor's answer to a chat, whole or streamed, to a test of its key, and its list."""
    if received.target.endswith("/models"):
        return MockResponse(
            (b'{"object":"list","data":[{"id":"large"},{"id":"small"},{"id":"new"}]}',)
        )
    if received.json().get("stream"):
        parts = [CHUNK % (b"null", b""), CHUNK % (b'"stop"', USAGE)]
        return MockResponse.stream(*(b"data: %s\n\n" % part for part in (*parts, b"[DONE]")))
    return MockResponse((REPLY,))


def acme(vendors: Any) -> list[ProviderSpec]:
    """A vendor with a key, and another without."""
    base = f"{vendors['openai'].url}/v1"
    keyed = ProviderSpec(
        id="acme",
        name="Acme",
        base_url=base,
        models_url=f"{base}/models",
        models=MODELS,
        auth=Auth(type="bearer"),
    )
    return [keyed, keyless_provider("openai", vendors["openai"], id="open", name="Open")]


def ask(here: Served, model: str) -> None:
    """Call a model once, without a key."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    url = f"{here.url}/v1/chat/completions"
    httpx2.post(url, json=body, trust_env=False, timeout=30)


def last_call(here: Served, vendor: str) -> ReceivedRequest:
    """The newest call that reached a vendor; its list of models may be read at any time."""
    return next(each for each in reversed(here.vendors[vendor].received) if each.body)


class Person:
    """Whoever sits before a browser, and what went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.faults: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Another tab."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        return page

    def _note(self, message: ConsoleMessage) -> None:
        # A refusal of the gateway is an answer; what matters is whether the page can show it.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def sign_in(self, password: str = PASSWORD) -> None:
        """Sign in without the page."""
        login = f"{self.url}/api/auth/login"
        answer = self.context.request.post(
            login, data={"password": password}, headers={"origin": self.url}
        )
        assert answer.ok, answer.text()

    def visit(self, path: str) -> Page:
        """Open a page of the dashboard by its address, such as ``keys?search=a``."""
        self.page.goto(f"{self.url}/dashboard/{path}")
        return self.page

    def repeat_password(self, password: str = PASSWORD) -> None:
        """Enter the password that a page wants besides the session."""
        self.page.get_by_label("Dashboard password").fill(password)
        self.page.get_by_role("button", name="Continue").click()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the management API with this person's session."""
        answer = self.context.request.fetch(
            self.url + path, method=method, data=body, headers={"origin": self.url}
        )
        assert answer.ok, answer.text()
        return answer.json()


@contextmanager
def person(
    browser: Browser,
    here: Served,
    *,
    size: tuple[int, int] = DESKTOP,
    scheme: Any = "light",
    signed_in: bool = True,
) -> Iterator[Person]:
    """Somebody with a browser of their own; nothing may go wrong in it unnoticed."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        someone = Person(context, here.url)
        if signed_in:
            someone.sign_in()
        yield someone
        assert someone.faults == []
    finally:
        context.close()


STORED = {
    "/api/providers": "connections",
    "/api/keys": "keys",
    "/api/combos": "combos",
    "/api/provider-nodes": "nodes",
}
"""What people add, by its path, with the name of its list."""


def forget(here: Served) -> None:
    """Delete what a test has added: accounts, keys, combos, nodes, aliases and models."""
    token = here.gateway.core.identity.cli_token
    headers = {"x-gateway-cli-token": token}
    with httpx2.Client(base_url=here.url, headers=headers, trust_env=False) as client:
        for path, name in STORED.items():
            for row in client.get(path).json()[name]:
                client.delete(f"{path}/{row['id']}").raise_for_status()
        for alias in client.get("/api/models/alias").json()["aliases"]:
            client.delete("/api/models/alias", params={"alias": alias}).raise_for_status()
        for model in client.get("/api/models/custom").json()["models"]:
            names = {"providerAlias": model["providerAlias"], "id": model["id"]}
            client.delete("/api/models/custom", params=names).raise_for_status()


def expect_loaded(page: Page) -> None:
    """The page has read what it shows."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    main = page.get_by_role("main")
    expect(main.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)


def serious_faults(page: Page) -> list[str]:
    """What axe finds that keeps people out, with the elements."""
    folder = install(ROOT / "tests" / "axe")
    # Evaluated, not added as an element, which the page's policy would refuse.
    page.evaluate((folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {rule['help']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]


def serious_faults_in_both_schemes(page: Page) -> list[str]:
    """The same in light and in dark, for a page that follows the system."""
    faults = []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_function(
            "scheme => document.documentElement.dataset.mantineColorScheme === scheme", arg=scheme
        )
        faults += [f"{scheme}: {fault}" for fault in serious_faults(page)]
    return faults
