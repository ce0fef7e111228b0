import asyncio

import pytest
from manual_clock import Clock

from gateway_administration.stores.audit import AuditFilter, AuditRow, AuditTrail
from gateway_core.storage.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database, clock: Clock) -> AuditTrail:
    return AuditTrail(database, clock=clock)


async def test_a_row_tells_who_did_what_to_what_and_when(store: AuditTrail) -> None:
    await store.write("cli", "127.0.0.1", "key.create", "k1", {"name": "laptop"})

    rows, total = await store.page()

    assert total == 1
    assert rows == (
        AuditRow(
            id=1,
            at="2027-01-15T08:00:00.000Z",
            actor="cli",
            address="127.0.0.1",
            action="key.create",
            target="k1",
            detail={"name": "laptop"},
        ),
    )


async def test_pages_are_newest_first_and_may_be_of_one_action(store: AuditTrail) -> None:
    for number in range(5):
        await store.write("cli", "::1", "even" if number % 2 == 0 else "odd", str(number))

    rows, total = await store.page(limit=2, offset=1)
    even, how_many = await store.page(AuditFilter(action="even"))

    assert ([row.target for row in rows], total) == (["3", "2"], 5)
    assert ([row.target for row in even], how_many) == (["4", "2", "0"], 3)


async def test_ids_grow_even_when_many_write_at_once(store: AuditTrail) -> None:
    await asyncio.gather(*(store.write("cli", "::1", "x", str(n)) for n in range(20)))

    rows, _ = await store.page()

    assert [row.id for row in rows] == list(range(20, 0, -1))
    assert {row.target for row in rows} == {str(n) for n in range(20)}
