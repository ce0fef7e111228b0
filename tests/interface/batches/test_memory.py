"""A long input is neither checked nor run in memory."""

import json
from pathlib import Path

import psutil
import pytest
from batch_clients import BatchClient, ChatScript, row, wait_for
from custom_node import add_node
from gateway_process import running, vendor

ROWS = 30_000
MIB = 1024 * 1024
GROWTH = 24 * MIB
"""A third of the input, and more than the rest of the gateway's work takes."""


@pytest.mark.timeout(180)
def test_a_long_input_leaves_memory_as_it_is(tmp_path: Path) -> None:
    script = ChatScript()
    with vendor(script) as where, running(tmp_path) as here:
        add_node(here, tmp_path, where)
        process = psutil.Process(here.process.pid)
        with BatchClient(here.url, tmp_path) as client:
            client.wait(client.create([row(n, model="lab/m") for n in range(40)])["id"])
            before = most = process.memory_info().rss
            writer = client.files.create("local", "long.jsonl", "batch")
            for n in range(ROWS):
                line = json.dumps(row(n, model="lab/m", user="u" * 2400)).encode()
                writer.write(line + b"\n")
            record = writer.finish()
            made = client.http.post("/v1/batches", json={"input_file_id": record.id}).json()

            def has_run() -> bool:
                nonlocal most
                most = max(most, process.memory_info().rss)
                done: int = client.get(made["id"])["request_counts"]["completed"]
                return done >= 200

            wait_for(has_run)
            cancelled = client.http.post(f"/v1/batches/{made['id']}/cancel").json()
            most = max(most, process.memory_info().rss)

    assert record.bytes > 3 * GROWTH
    assert most - before < GROWTH
    counts = cancelled["request_counts"]
    assert counts["total"] == ROWS
    assert counts["completed"] + counts["canceled"] == ROWS
