"""Backup and restore in the settings: what a person downloads there brings back what was lost."""

import json
from pathlib import Path

from dashboard_browser import Person, serious_faults_in_both_schemes
from playwright.sync_api import Page, expect


def opened(someone: Person) -> Page:
    """The tab behind its password."""
    page = someone.visit("settings?tab=backup")
    someone.repeat_password()
    expect(page.get_by_role("heading", name="Restore")).to_be_visible()
    return page


def combos(someone: Person) -> list[str]:
    return sorted(each["name"] for each in someone.call("GET", "/api/combos")["combos"])


def remove_combos(someone: Person) -> None:
    for each in someone.call("GET", "/api/combos")["combos"]:
        someone.call("DELETE", f"/api/combos/{each['id']}")


def test_a_backup_brings_everything_back(someone: Person, tmp_path: Path) -> None:
    remove_combos(someone)
    someone.call("POST", "/api/combos", {"name": "kept", "models": ["open/m-1"]})
    page = opened(someone)
    page.get_by_role("switch", name="With secrets").click(force=True)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the backup").click()
    file = tmp_path / "backup.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["secretsIncluded"] is True
    remove_combos(someone)

    page.locator("input[type=file]").set_input_files(file)
    content = page.get_by_role("group", name="A backup")
    expect(content).to_contain_text("In the file")
    assert serious_faults_in_both_schemes(page) == []
    content.get_by_role("button", name="Replace what is here").click()
    asked = page.get_by_role("dialog", name="Replace what is here?")
    asked.get_by_label("Type replace to confirm").fill("replace")
    asked.get_by_role("button", name="Replace what is here").click()

    expect(page.get_by_text("The backup is in place")).to_be_visible()
    assert combos(someone) == ["kept"]


def test_a_selection_is_added_to_what_is_here(someone: Person, tmp_path: Path) -> None:
    remove_combos(someone)
    for name in ("one", "two"):
        someone.call("POST", "/api/combos", {"name": name, "models": ["open/m-1"]})
    page = opened(someone)
    page.get_by_role("checkbox", name="one").click(force=True)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the selection").click()
    file = tmp_path / "selection.json"
    download.value.save_as(file)
    remove_combos(someone)

    page.locator("input[type=file]").set_input_files(file)
    plan = page.get_by_role("table", name="A selection")
    expect(plan.get_by_role("row", name="one")).to_contain_text("new")
    page.get_by_role("button", name="Apply the selection").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply the selection").click()

    expect(page.get_by_text("The selection was applied")).to_be_visible()
    assert combos(someone) == ["one"]


def test_a_file_that_is_wrong_changes_nothing(someone: Person, tmp_path: Path) -> None:
    remove_combos(someone)
    someone.call("POST", "/api/combos", {"name": "here", "models": ["open/m-1"]})
    page = opened(someone)
    other, broken = tmp_path / "other.json", tmp_path / "broken.json"
    other.write_text("[]")
    head = {"format": "model-gateway-database", "schemaVersion": 1, "secretsIncluded": False}
    tables = {"combos": {"columns": ["nonsense"], "rows": [["x"]]}}
    at = "2027-01-15T08:00:00.000Z"
    broken.write_text(json.dumps({**head, "exportedAt": at, "tables": tables}))

    page.locator("input[type=file]").set_input_files(other)
    expect(page.get_by_role("alert")).to_contain_text("no backup of a gateway")
    page.locator("input[type=file]").set_input_files(broken)
    page.get_by_role("button", name="Replace what is here").click()
    asked = page.get_by_role("dialog", name="Replace what is here?")
    asked.get_by_label("Type replace to confirm").fill("replace")
    asked.get_by_role("button", name="Replace what is here").click()

    expect(asked.get_by_role("alert")).to_contain_text("unknown columns")
    assert combos(someone) == ["here"]
