"""Leases: of several processes one may write to a batch, and a dead one may not write any more."""

import time
from collections.abc import AsyncIterator

import pytest

from gateway_batches.batch import Batch, RowUnderWay
from gateway_batches.store import BatchStore, LeaseLost, Step
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import MEMORY, open_sqlite

pytestmark = pytest.mark.anyio
ID = f"batch_{'0' * 24}"


@pytest.fixture
async def store() -> AsyncIterator[BatchStore]:
    database = await open_sqlite(MEMORY)
    await migrate(database, packaged_migrations("sqlite"), time.time)
    store = BatchStore(database)
    batch = Batch(
        id=ID, surface="completions", owner="k", endpoint="/x", created_at=1, expires_at=9, total=3
    )
    await store.create(batch)
    yield store
    await database.close()


async def seen(store: BatchStore) -> Batch:
    batch = await store.get(ID)
    assert batch is not None
    return batch


def step(**more: int) -> Step:
    fields = {"completed": 0, "failed": 0, "length": 0, "next_line": 1, "next_position": 0, **more}
    return Step(**fields, begun=[RowUnderWay(1, 0)])


async def test_of_two_that_claim_a_batch_one_gets_it(store: BatchStore) -> None:
    batch = await seen(store)

    first = await store.claim(batch, "a", 0.0, 10.0, is_alone=False)
    second = await store.claim(batch, "b", 0.0, 10.0, is_alone=False)

    assert first is not None
    assert second is None
    assert await store.waiting(5.0, "b", is_alone=False) == []


async def test_a_lease_that_is_renewed_is_not_taken(store: BatchStore) -> None:
    await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=False)
    (found,) = await store.waiting(10.0, "b", is_alone=False)

    await store.renew("a", 20.0)

    assert await store.claim(found, "b", 10.0, 30.0, is_alone=False) is None


async def test_a_lease_that_has_run_out_is_taken_and_its_holder_writes_no_more(
    store: BatchStore,
) -> None:
    first = await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=False)
    assert first is not None
    await store.step(first, step())

    second = await store.claim(await seen(store), "b", 10.0, 20.0, is_alone=False)

    assert second is not None
    assert await store.rows(ID) == [RowUnderWay(1, 0)]
    with pytest.raises(LeaseLost):
        await store.step(first, step(completed=3))
    with pytest.raises(LeaseLost):
        await store.change(first, status="completed")
    await store.release(first)
    assert (await seen(store)).runner == "b"
    assert (await seen(store)).completed == 0
    assert [part.generation for part in await store.parts(ID)] == [1, 2]


async def test_a_process_that_is_alone_takes_what_is_there(store: BatchStore) -> None:
    await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=False)

    (found,) = await store.waiting(1.0, "b", is_alone=True)

    assert await store.claim(found, "b", 1.0, 11.0, is_alone=True) is not None


async def test_a_batch_that_is_over_is_not_run(store: BatchStore) -> None:
    lease = await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=True)
    assert lease is not None
    await store.change(lease, status="completed", completed_at=5.0)

    assert await store.waiting(99.0, "b", is_alone=True) == []
    assert await store.claim(await seen(store), "b", 99.0, 100.0, is_alone=True) is None
    await store.cancel(ID, 100.0)
    assert (await seen(store)).status == "completed"


async def test_what_ended_long_ago_is_removed(store: BatchStore) -> None:
    lease = await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=True)
    assert lease is not None
    await store.step(lease, step())
    assert await store.remove_ended(99.0) == []
    await store.change(lease, status="completed", completed_at=5.0)

    assert await store.remove_ended(5.0) == []
    assert await store.remove_ended(5.1) == [ID]
    assert await store.with_files() == set()
    assert await store.rows(ID) == await store.parts(ID) == []


async def test_a_process_that_lost_its_lease_sends_nothing_again(store: BatchStore) -> None:
    lost = await store.claim(await seen(store), "a", 0.0, 10.0, is_alone=False)
    assert lost is not None
    await store.step(lost, step())
    held = await store.claim(await seen(store), "b", 11.0, 20.0, is_alone=False)
    assert held is not None

    with pytest.raises(LeaseLost):
        await store.retry(lost, RowUnderWay(1, 0, tries=2))

    assert await store.rows(ID) == [RowUnderWay(1, 0)]
    await store.retry(held, RowUnderWay(1, 0, tries=2))
    assert await store.rows(ID) == [RowUnderWay(1, 0, tries=2)]
