"""What a key may use and has used: bars, expiry, and the sentences that say so."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from dashboard_browser import Person
from playwright.sync_api import Locator, expect
from served_gateway import Served

MODEL = "acme/large"
A_CALL = 0.00027
"""Dollars of a call: 30 tokens in and 12 out, at 3 and 15 dollars a million."""


def ask(here: Served, key: str) -> int:
    """The status of a program's call with a key, from elsewhere."""
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"authorization": f"Bearer {key}", "x-forwarded-for": "203.0.113.5"}
    url = f"{here.url}/v1/chat/completions"
    return httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=30).status_code


def make(someone: Person, **more: Any) -> dict[str, Any]:
    someone.call("POST", "/api/providers", {"provider": "acme", "name": "main", "apiKey": "sk-1"})
    body = {"name": "laptop", "machineId": "any", **more}
    made: dict[str, Any] = someone.call("POST", "/api/keys", body)
    return made


def bar(here: Locator, filled: str) -> None:
    """The only bar is filled so far."""
    expect(here.get_by_role("progressbar")).to_have_attribute("aria-valuenow", filled)


@pytest.mark.parametrize(
    ("limit", "used", "full"),
    [
        ({"rpmLimit": 4}, "2 of 4", "4 of 4"),
        ({"monthlyRequestLimit": 4}, "2 of 4", "4 of 4"),
        ({"monthlyBudget": 4 * A_CALL}, "$0.00054 of $0.00108", "$0.00108 of $0.00108"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_bars_show_how_much_of_a_limit_is_used(
    here: Served, someone: Person, limit: dict[str, Any], used: str, full: str
) -> None:
    made = make(someone, **limit)
    assert [ask(here, made["key"]) for _ in range(2)] == [200, 200]
    here.rows()

    page = someone.visit("keys")
    row = page.get_by_role("table", name="Keys").get_by_role("row", name="laptop")
    expect(row).to_contain_text("50%")
    bar(row, "50")
    row.click()
    sheet = page.get_by_role("dialog", name="laptop")
    expect(sheet).to_contain_text(used)
    bar(sheet, "50")

    assert [ask(here, made["key"]) for _ in range(3)] == [200, 200, 429]
    here.rows()
    page.reload()
    expect(sheet).to_contain_text(full)
    bar(sheet, "100")


def test_a_key_is_valid_until_a_day(here: Served, someone: Person) -> None:
    made = make(someone)
    page = someone.visit("keys")
    row = page.get_by_role("table", name="Keys").get_by_role("row", name="laptop")
    expect(row).to_contain_text("Never")
    row.click()
    page.get_by_role("button", name="Edit").click()
    editor = page.get_by_role("dialog", name="Change laptop")
    day = (datetime.now(UTC) + timedelta(days=4)).date().isoformat()
    editor.get_by_label("Valid until").fill(day)
    expect(editor.get_by_test_id("summary")).to_contain_text(f"It is valid until {day}.")
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()

    sheet = page.get_by_role("dialog", name="laptop")
    expect(sheet.get_by_test_id("summary")).to_contain_text(f"It is valid until {day}.")
    page.keyboard.press("Escape")
    expires = someone.call("GET", "/api/keys")["keys"][0]["expiresAt"]
    expect(row.locator("time")).to_have_attribute("datetime", expires)
    expect(row.locator("time")).to_have_text("in 4 days")
    assert ask(here, made["key"]) == 200


def test_a_key_whose_day_is_over_is_shown_so_and_refused(here: Served, someone: Person) -> None:
    past = (datetime.now(UTC) - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = make(someone, expiresAt=past)
    page = someone.visit("keys?state=expired")
    row = page.get_by_role("table", name="Keys").get_by_role("row", name="laptop")
    expect(row.get_by_role("img", name="Expired")).to_be_visible()
    expect(row.locator("time")).to_have_text("2 days ago")
    assert ask(here, made["key"]) == 401


def test_sentences_say_what_a_key_may_do(here: Served, someone: Person) -> None:
    policy = {
        "modelAccess": {"mode": "allow", "patterns": ["acme/*"]},
        "rpmLimit": 20,
        "monthlyBudget": 5,
        "inferenceOnly": True,
    }
    made = make(someone, **policy)
    page = someone.visit(f"keys?key={made['id']}")
    summary = page.get_by_role("dialog", name="laptop").get_by_test_id("summary")

    expect(summary.get_by_role("listitem")).to_have_text(
        [
            "It may call only acme/* and every combo.",
            "At most 20 requests a minute and $5.00 a month.",
            "It cannot use the management API.",
        ]
    )
    assert ask(here, made["key"]) == 200
    body = {"model": "open/m-1", "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"authorization": f"Bearer {made['key']}", "x-forwarded-for": "203.0.113.5"}
    with httpx2.Client(base_url=here.url, headers=headers, trust_env=False) as program:
        assert program.post("/v1/chat/completions", json=body).status_code == 403
        assert program.get("/api/keys").status_code in (401, 403)
