"""The page of files and batches: what a person ends there is ended for its owner."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from batch_clients import BatchGateway, ChatScript, row
from dashboard_browser import VARIABLES, Person, person, serious_faults_in_both_schemes
from fake_vendor import FakeVendor
from playwright.sync_api import Browser, expect
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model, ProviderSpec


class Room(NamedTuple):
    """A gateway with batches, and somebody before its dashboard."""

    clients: BatchGateway
    someone: Person


@pytest.fixture(scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, ChatScript, Path]]:
    folder, script = tmp_path_factory.mktemp("gateway"), ChatScript()

    def specs(vendors: Mapping[str, FakeVendor]) -> list[ProviderSpec]:
        return [keyless_provider("openai", vendors["openai"], models=(Model("m"),))]

    with serve_gateway(folder, {"openai": script}, specs=specs, variables=VARIABLES) as served:
        yield served, script, folder


@pytest.fixture
def room(browser: Browser, _served: tuple[Served, ChatScript, Path]) -> Iterator[Room]:
    served, script, folder = _served
    script.held = set()
    with ExitStack() as stack:
        clients = BatchGateway(served, script, folder, stack)
        yield Room(clients, stack.enter_context(person(browser, served)))
        script.held.clear()
        clients.wait_for_all()


def test_empty_lists_say_how_they_are_filled(room: Room) -> None:
    page = room.someone.visit("files")
    expect(page.get_by_text("No files yet")).to_be_visible()
    expect(page.get_by_text("/v1/files")).to_be_visible()

    page.get_by_role("tab", name="Batches").click()

    expect(page.get_by_text("No batches yet")).to_be_visible()


def test_a_key_s_file_is_found_downloaded_and_deleted(room: Room) -> None:
    client = room.clients.client_of(room.clients.key(name="ann"))
    for name, content in (("rows.jsonl", b"first\n"), ("notes.txt", b"the notes\n")):
        form = {"files": {"file": (name, content)}, "data": {"purpose": "user_data"}}
        assert client.http.post("/v1/files", **form).status_code == 200
    page = room.someone.visit("files")
    table = page.get_by_role("table", name="Files")
    expect(table.get_by_role("row", name="rows.jsonl")).to_contain_text("ann")
    expect(page.get_by_role("button", name="ann")).to_contain_text("2 files")

    page.get_by_label("Name or ID").fill("notes")
    expect(table.get_by_role("row")).to_have_count(2)
    assert "search=notes" in page.url
    assert serious_faults_in_both_schemes(page) == []
    with page.expect_download() as download:
        table.get_by_role("link", name="Download notes.txt").click()
    assert download.value.path().read_bytes() == b"the notes\n"
    table.get_by_role("button", name="Delete notes.txt").click()
    dialog = page.get_by_role("dialog", name="Delete this file?")
    expect(dialog).to_contain_text("ann")
    dialog.get_by_role("button", name="Delete").click()

    expect(page.get_by_text("No file matches")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(table.get_by_role("row", name="rows.jsonl")).to_be_visible()
    (left,) = client.http.get("/v1/files").json()["data"]
    assert left["filename"] == "rows.jsonl"


def test_a_batch_moves_while_it_is_watched_and_is_cancelled(room: Room) -> None:
    room.clients.script.held = {"row 1", "row 2"}
    client = room.clients.client_of(room.clients.key(name="ben"))
    id = client.create([row(number) for number in range(1, 7)])["id"]
    page = room.someone.visit("files?tab=batches&status=open")
    listed = page.get_by_role("table", name="Batches").get_by_role("row", name=id)
    expect(listed).to_contain_text("0 of 6")
    listed.click()
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text("0 of 6")).to_be_visible()

    room.clients.script.held.discard("row 1")
    expect(sheet.get_by_text("5 of 6")).to_be_visible()
    sheet.get_by_role("button", name="Cancel the batch").click()
    asked = page.get_by_role("dialog", name="Cancel the batch")
    asked.get_by_role("button", name="Cancel the batch").click()
    expect(sheet.get_by_role("heading", name="Cancelling", exact=True)).to_be_visible()
    room.clients.script.held.clear()

    expect(sheet.get_by_role("heading", name="Cancelled", exact=True)).to_be_visible()
    assert client.get(id)["status"] == "cancelled"


def test_results_are_downloaded_and_an_ended_batch_is_deleted(room: Room) -> None:
    client = room.clients.client_of(room.clients.key(name="cat"))
    batch = client.wait(client.create([row(1)])["id"])
    page = room.someone.visit(f"files?tab=batches&batch={batch['id']}")
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_text("1 of 1")).to_be_visible()
    expect(sheet.get_by_text("cat")).to_be_visible()
    assert serious_faults_in_both_schemes(page) == []

    with page.expect_download() as download:
        sheet.get_by_role("link", name="Results").click()
    assert b'"row-1"' in download.value.path().read_bytes()
    sheet.get_by_role("button", name="Delete the batch").click()
    asked = page.get_by_role("dialog", name="Delete the batch")
    asked.get_by_role("button", name="Delete the batch").click()

    expect(page.get_by_text("The batch was deleted")).to_be_visible()
    assert client.http.get(f"/v1/batches/{batch['id']}").status_code == 404
    assert len(client.output(batch)) == 1
