"""The sheet of a request: what was lost, when it was, and the same call again."""

import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx2
import pytest
from dashboard_browser import Person
from playwright.sync_api import Locator, expect
from served_gateway import Served

from gateway_core.storage.moments import iso
from gateway_core.storage.stores.usage import UsageRecord

LIMIT = 60
"""Seconds that a command may take, or a page until it shows a call."""
TEXT = """It's "kept": $HOME `ls` \\ {a} [b]
second line"""
"""What a shell or curl could take for something else."""
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
TURNS = [{"role": "user", "content": TEXT}]
CALLS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "chat": ("/v1/chat/completions", {"model": "open/m-1", "messages": TURNS}, {}),
    "stream": (
        "/v1/chat/completions",
        {"model": "open/m-1", "messages": TURNS, "stream": True},
        {},
    ),
    "messages": (
        "/v1/messages",
        {"model": "open/m-1", "max_tokens": 64, "messages": TURNS},
        {"anthropic-version": "2023-06-01", "x-stainless-lang": "python"},
    ),
    "gemini": (
        "/v1beta/models/open/m-1:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]},
        {},
    ),
}
"""Calls in several formats: path, body, headers."""


def post(here: Served, path: str, body: Any, headers: dict[str, str] | None = None) -> Any:
    """A program's call; gives the response."""
    return httpx2.post(here.url + path, json=body, headers=headers, trust_env=False, timeout=30)


def chats(here: Served) -> list[Any]:
    """What the vendor was asked; pages ask it for its models too."""
    return [each.json() for each in here.vendors["openai"].received if each.body]


def open_sheet(someone: Person, request_id: str, key: str = "") -> Locator:
    page = someone.visit(f"requests?key={key}&request={request_id}")
    sheet = page.get_by_role("dialog")
    # The page is loaded first, which takes long on a busy machine.
    expect(sheet.get_by_text(request_id)).to_be_visible(timeout=LIMIT * 1000)
    return sheet


@pytest.fixture
def keeping(someone: Person) -> Iterator[None]:
    """Conversations are kept, each up to the usual length."""
    someone.call("PATCH", "/api/settings", {"enableObservability": True})
    yield
    someone.call("PATCH", "/api/settings", {"enableObservability": False})


def test_the_sheet_names_what_the_vendors_format_could_not_carry(
    here: Served, someone: Person
) -> None:
    body = {"model": "open/m-1", "max_tokens": 64, "messages": TURNS}
    lossy = post(here, "/v1/messages", {**body, "top_k": 5})
    whole = post(here, "/v1/messages", body)
    (name,) = lossy.headers["x-gateway-dropped"].split(", ")
    assert "top_k" not in chats(here)[-2]

    sheet = open_sheet(someone, lossy.headers["x-request-id"])
    lost = someone.page.get_by_role("heading", name="Not carried over")
    expect(sheet.locator("section").filter(has=lost).locator("code")).to_have_text([name])
    lost.hover()
    expect(someone.page.get_by_role("tooltip")).to_contain_text("x-gateway-dropped")

    assert "x-gateway-dropped" not in whole.headers
    sheet = open_sheet(someone, whole.headers["x-request-id"])
    expect(sheet.get_by_text("Not carried over")).to_be_hidden()


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("name", CALLS)
def test_a_request_is_copied_as_a_command_that_works(
    here: Served, someone: Person, name: str
) -> None:
    path, body, headers = CALLS[name]
    made = someone.call("POST", "/api/keys", {"name": "laptop", "machineId": "any"})
    key = made["key"]
    shown = {**headers, "authorization": f"Bearer {key}"}
    request_id = post(here, path, body, shown).headers["x-request-id"]
    someone.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=here.url)
    sheet = open_sheet(someone, request_id, key=made["id"])
    copy = sheet.get_by_role("button", name="Copy as curl")
    copy.hover()
    expect(someone.page.get_by_role("tooltip")).to_contain_text("GATEWAY_KEY")
    copy.click()
    expect(sheet.get_by_role("button", name="Copied")).to_be_visible()
    command = someone.page.evaluate("navigator.clipboard.readText()")

    assert key not in command
    assert "x-stainless" not in command
    written = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": os.environ["PATH"], "GATEWAY_KEY": key},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )
    assert "Hello from Acme" in written.stdout
    first, again = chats(here)[-2:]
    assert first == again
    sheet.get_by_role("button", name="Close").click()
    page = someone.page
    expect(page.get_by_role("table", name="Requests").get_by_role("row")).to_have_count(3)
    one, other = here.rows()[:2]
    assert (one.endpoint, one.status, one.api_key_id) == (other.endpoint, "ok", made["id"])


@pytest.mark.usefixtures("keeping")
def test_of_a_long_request_the_beginning_is_no_command(here: Served, someone: Person) -> None:
    turns = [{"role": "user", "content": "long " * 2000}]
    answer = post(here, "/v1/chat/completions", {"model": "open/m-1", "messages": turns})
    sheet = open_sheet(someone, answer.headers["x-request-id"])
    sheet.get_by_role("tab", name="Conversation").click()

    expect(sheet.get_by_text("Only the beginning was kept")).to_be_visible()
    expect(sheet.get_by_text("Hello from Acme")).to_be_visible()
    expect(sheet.get_by_role("button", name="Copy as curl")).to_have_count(0)


@pytest.mark.usefixtures("keeping")
def test_a_request_is_asked_again_in_the_playground(here: Served, someone: Person) -> None:
    turns = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Gulls?"},
        {"role": "assistant", "content": "Loud."},
        {"role": "user", "content": "Terns?"},
    ]
    body = {"model": "open/m-1", "messages": turns, "temperature": 0.2, "max_tokens": 64}
    answer = post(here, "/v1/chat/completions", {**body, "tools": [TOOL]})
    sheet = open_sheet(someone, answer.headers["x-request-id"])
    sheet.get_by_role("button", name="Open in playground").click()
    page = someone.page
    talk = page.get_by_role("log")
    expect(talk.get_by_text("Terns?")).to_be_visible()
    talk.get_by_role("button", name="Answer again").click()

    expect(talk.get_by_text("Hello from Acme")).to_be_visible()
    first, again = chats(here)[-2:]
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    assert first["messages"] == turns
    assert again == {**first, **streamed}
    talk.get_by_role("link", name="Details").click()
    expect(page.get_by_role("dialog").get_by_text("Playground (")).to_be_visible()
    assert here.rows()[0].api_key_id.startswith("playground:")
    assert here.rows()[0].model_asked == "open/m-1"


def test_a_relative_time_shows_the_exact_one_on_hover(here: Served, someone: Person) -> None:
    at = iso(here.gateway.core.clock() - 3 * 3600)
    record = UsageRecord(
        request_id="three-hours-ago",
        started_at=at,
        finished_at=at,
        model_asked="open/m-old",
        model_sent="m-old",
        provider="open",
        endpoint="/v1/chat/completions",
        day=at[:10],
    )
    here.do(here.gateway.core.stores.usage.insert_many([record]))
    # The browser's zone is that of the machine.
    local = datetime.fromisoformat(at).astimezone()
    exact = f"{local:%Y-%m-%d %H:%M:%S}."
    page = someone.visit("requests?model=m-old")
    table = page.get_by_role("table", name="Requests")
    table.get_by_text(f"{local:%H:%M:%S}").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(exact)

    table.get_by_text("m-old").click()
    sheet = page.get_by_role("dialog")
    ago = sheet.get_by_text("3 hr. ago")
    expect(ago).to_have_attribute("datetime", at)
    ago.hover()
    expect(page.get_by_role("tooltip").filter(has_text=exact)).to_be_visible()
