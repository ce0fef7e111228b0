"""The page of usage and cost: sums are those of the ledger, and a price counts from then on."""

import json
from pathlib import Path

import httpx2
from dashboard_browser import Person
from playwright.sync_api import expect
from served_gateway import Served

CALLS = 3


def call(here: Served, model: str, times: int = 1) -> None:
    """Calls of a program on this machine."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(times):
        url = f"{here.url}/v1/chat/completions"
        answer = httpx2.post(url, json=body, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text
    here.rows()


def test_usage_is_grouped_pivoted_and_exported(
    here: Served, someone: Person, tmp_path: Path
) -> None:
    call(here, "open/m-1", CALLS)
    page = someone.visit("usage")
    table = page.get_by_role("table", name="Usage and cost")
    expect(table).to_contain_text("m-1")
    expect(page.get_by_text("Without a price")).to_be_visible()
    page.get_by_label("Then by").first.click()
    page.get_by_role("option", name="Provider").click()

    row = table.get_by_role("row").filter(has_text="m-1")
    expect(row).to_contain_text("Open")
    expect(row).to_contain_text(str(CALLS))
    assert "then=provider" in page.url
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="JSON").click()
    download.value.save_as(tmp_path / "usage.json")
    (saved,) = json.loads((tmp_path / "usage.json").read_text())
    assert saved["requests"] == CALLS
    assert saved["inputTokens"] == CALLS * 30
    assert saved["model"].endswith("m-1")


def test_a_price_is_set_and_counts_from_then_on(here: Served, someone: Person) -> None:
    page = someone.visit("usage?tab=prices")
    page.get_by_role("button", name="Set a price").click()
    editor = page.get_by_role("dialog", name="Set a price")
    editor.get_by_label("Model").first.fill("open/m-1")
    editor.get_by_role("textbox", name="Input", exact=True).fill("1000")
    editor.get_by_role("textbox", name="Output", exact=True).fill("2000")
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()
    expect(page.get_by_text("The price of open/m-1 is saved")).to_be_visible()

    call(here, "open/m-1")
    page.get_by_role("tab", name="Usage").click()
    # 30 tokens in and 12 out.
    expect(page.get_by_text("$0.054").first).to_be_visible()
    assert here.rows()[0].cost == 54_000  # millionths of a dollar
