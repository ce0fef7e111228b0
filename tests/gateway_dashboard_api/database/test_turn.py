"""One process changes the database, and the others stop writing until it is done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway_core.config.data_dir import DataDir
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.stores import Stores, open_stores
from gateway_dashboard_api.database import turn
from gateway_dashboard_api.database.turn import Busy, Turn, WritesGoOn

pytestmark = pytest.mark.anyio

AT = "2026-01-02T03:04:05.678Z"


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[tuple[Stores, Stores]]:
    """The stores of two processes on one data directory."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(2):
            found.append(await open_stores(DataDir(tmp_path), shares_data=True))
            stack.push_async_callback(found[-1].close)
        yield found[0], found[1]


async def test_a_change_waits_for_the_writes_of_other_processes_and_lets_none_begin(
    pair: tuple[Stores, Stores],
) -> None:
    one, other = pair
    changing, alone, over = Turn(one.database), asyncio.Event(), asyncio.Event()

    async def change() -> None:
        async with changing.held(), changing.alone(AT):
            alone.set()
            await over.wait()

    async with other.database.transaction() as transaction:
        task = asyncio.create_task(change())
        while other.database.agreement.is_current:  # type: ignore[union-attr]
            await asyncio.sleep(0)
        was_alone = alone.is_set()
        await transaction.execute("INSERT INTO meta (key, value) VALUES ('in time', '')")
    await alone.wait()
    with pytest.raises(StorageUnavailable, match="database cutover in progress"):
        await other.kv.put("aliases", {"a": "b"})
    with pytest.raises(Busy):
        async with Turn(other.database).held():
            raise AssertionError
    read = await other.database.fetch("SELECT key FROM meta WHERE key = 'in time'")
    over.set()
    await task
    await other.kv.put("aliases", {"a": "b"})

    assert not was_alone
    assert len(read) == 1
    assert await one.kv.get("aliases", "a") == "b"


async def test_a_write_that_does_not_end_stops_the_change(
    pair: tuple[Stores, Stores], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    monkeypatch.setattr(turn, "PATIENCE", 0.1)
    changing = Turn(one.database)

    async with other.database.transaction():
        with pytest.raises(WritesGoOn):
            async with changing.held(), changing.alone(AT):
                raise AssertionError
    await one.kv.put("aliases", {"a": "b"})

    assert await other.kv.get("aliases", "a") == "b"


async def test_how_far_a_change_is_can_be_seen_by_other_processes(
    pair: tuple[Stores, Stores],
) -> None:
    one, other = pair
    changing, watching = Turn(one.database), Turn(other.database)
    before = watching.is_taken, watching.progress

    async with changing.held():
        changing.note(step="copy", rows=5)
        meanwhile = watching.is_taken, watching.progress
    after = watching.is_taken, watching.progress

    assert before == after == (False, {})
    assert meanwhile == (True, {"step": "copy", "rows": 5})
