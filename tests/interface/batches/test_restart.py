"""Batches go on where a gateway stopped, and end where they cannot go on."""

from collections import Counter
from pathlib import Path

import psutil
import pytest
from batch_clients import BatchClient, BatchGateway, ChatScript, row, wait_for
from custom_node import add_node
from gateway_process import running, vendor
from served_gateway import serve_gateway


def test_a_batch_goes_on_after_a_stop(tmp_path: Path) -> None:
    script = ChatScript()
    script.held |= {"row 2", "row 3"}
    with (
        serve_gateway(tmp_path, {"openai": script}) as here,
        BatchClient(here.url, tmp_path) as client,
    ):
        id = client.create([row(n) for n in range(8)])["id"]
        wait_for(lambda: script.total == 4)
    script.held.clear()
    with (
        serve_gateway(tmp_path, {"openai": script}) as here,
        BatchClient(here.url, tmp_path) as client,
    ):
        ended = client.wait(id)
        output = client.output(ended)

    assert ended["status"] == "completed"
    assert Counter(line["custom_id"] for line in output) == {f"row-{n}": 1 for n in range(8)}
    # Two rows were cut off by the stop.
    assert script.total == 10


def test_a_batch_whose_runner_breaks_has_failed_with_its_answers(here: BatchGateway) -> None:
    client, script = here.client, here.script
    script.held |= {"row 1", "row 2"}
    # More than is read ahead.
    id = client.create([row(n, user="x" * 4096) for n in range(60)])["id"]
    wait_for(lambda: script.total == 3)
    with (here.folder / "batches" / id / "input.jsonl").open("r+b") as file:
        file.truncate(0)
    script.held.clear()

    ended = client.wait(id)

    assert ended["status"] == "failed"
    assert ended["failed_at"]
    assert ended["errors"]["object"] == "list"
    assert ended["errors"]["data"][0]["message"].startswith("The batch could not be run")
    assert len(client.output(ended)) == ended["request_counts"]["completed"] >= 3


@pytest.mark.timeout(120)
def test_of_several_workers_one_runs_a_batch_and_another_goes_on(tmp_path: Path) -> None:
    script = ChatScript()
    with vendor(script) as where, running(tmp_path, "--workers", "2") as here:
        add_node(here, tmp_path, where)
        workers = psutil.Process(here.process.pid).children()
        with BatchClient(here.url, tmp_path) as client:
            script.held |= {"row 20", "row 21"}
            id = client.create([row(n, model="lab/m") for n in range(40)])["id"]
            wait_for(lambda: script.total == 22)
            for worker in workers:
                worker.kill()
            script.held.clear()
        with BatchClient(here.url, tmp_path) as client:
            ended = client.wait(id)
            output = client.output(ended)

    assert Counter(line["custom_id"] for line in output) == {f"row-{n}": 1 for n in range(40)}
    # The rows under way were sent again, and no other one.
    assert {text for text, count in script.written.items() if count > 1} == {"row 20", "row 21"}
