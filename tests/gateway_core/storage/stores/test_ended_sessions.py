import pytest
from manual_clock import Clock

from gateway_core.storage.database import Database
from gateway_core.storage.stores.ended_sessions import GRACE, GROUP, EndedSessionStore
from gateway_core.storage.stores.versions import read_versions

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database, clock: Clock) -> EndedSessionStore:
    return EndedSessionStore(database, clock=clock)


async def test_what_has_ended_is_kept_and_told_to_other_processes(
    store: EndedSessionStore, database: Database, clock: Clock
) -> None:
    await store.add("a", int(clock.now) + 60)
    await store.add("b", int(clock.now) + 60)
    await store.add("a", int(clock.now) + 60)

    assert await store.ids() == {"a", "b"}
    assert (await read_versions(database))[GROUP] == 3


async def test_a_row_goes_a_while_after_its_token(store: EndedSessionStore, clock: Clock) -> None:
    await store.add("old", int(clock.now) + 60)
    clock.now += 60 + GRACE
    await store.add("middle", int(clock.now) + 60)
    kept = await store.ids()
    clock.now += 1

    await store.add("new", int(clock.now) + 60)

    assert kept == {"old", "middle"}
    assert await store.ids() == {"middle", "new"}
