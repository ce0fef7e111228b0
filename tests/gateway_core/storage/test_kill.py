"""What a process has acknowledged survives its sudden death."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway_core.config.data_dir import DataDir
from gateway_core.storage.stores import open_stores

pytestmark = pytest.mark.anyio
WRITER = """
import asyncio, sys
from pathlib import Path
from gateway_core.config.data_dir import DataDir
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores import open_stores
from gateway_core.storage.stores.usage import UsageRecord

async def main(path):
    data_dir = DataDir(path)
    data_dir.acquire()
    stores = await open_stores(data_dir)
    number = 0
    while True:
        number += 1
        name = f"{sys.argv[2]}-{number}"
        await stores.connections.create(
            NewConnection(provider="acme", name=name, data={"apiKey": name})
        )
        record = UsageRecord(
            request_id=name, started_at="s", finished_at="f", model_asked="m", endpoint="/"
        )
        await stores.usage.insert_many([record] * 20)
        print(name, flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


def write_until_killed(path: Path, name: str, seconds: float) -> list[str]:
    """The names that the writer has acknowledged."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline().strip()
        time.sleep(seconds)
        process.kill()
        return [first, *process.stdout.read().splitlines()]


async def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "data"
    acknowledged: list[str] = []

    for run in range(5):
        acknowledged += write_until_killed(path, f"run{run}", 0.013 * run)

        with DataDir(path) as data_dir:
            stores = await open_stores(data_dir)
            connections = await stores.connections.list()
            total = (await stores.usage.page()).total
            check = await stores.database.fetch("PRAGMA integrity_check")
            await stores.close()

        assert check == [{"integrity_check": "ok"}]
        assert {one.name for one in connections} >= set(acknowledged)
        assert all(one.secrets == {"apiKey": one.name} for one in connections)
        assert [one.priority for one in connections] == list(range(1, len(connections) + 1))
        assert total % 20 == 0
        assert total >= 20 * len(acknowledged)
