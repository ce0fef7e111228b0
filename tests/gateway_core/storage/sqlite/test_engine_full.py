"""SQLite on a full disk."""

import pytest
from example_table import INSERT, ids

from gateway_core.storage.errors import StorageFull
from gateway_core.storage.sqlite.engine import SqliteDatabase

pytestmark = pytest.mark.anyio


async def test_a_full_disk_refuses_writes_and_still_reads(filed: SqliteDatabase) -> None:
    await filed.execute(INSERT, id=1, name="")
    await filed.execute("PRAGMA max_page_count = 4")

    with pytest.raises(StorageFull) as caught:
        await filed.execute(INSERT, id=2, name="x" * 100_000)

    assert caught.value.status == 507
    assert await ids(filed) == [1]
    await filed.execute("PRAGMA max_page_count = 1000")
    assert await filed.execute(INSERT, id=3, name="x" * 100_000) == 1


async def test_a_transaction_on_a_full_disk_is_undone(filed: SqliteDatabase) -> None:
    async def write() -> None:
        async with filed.transaction() as transaction:
            await transaction.execute(INSERT, id=1, name="")
            await transaction.execute(INSERT, id=2, name="x" * 100_000)

    await filed.execute("PRAGMA max_page_count = 4")

    with pytest.raises(StorageFull):
        await write()

    assert await ids(filed) == []
