import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.lockouts import Lock, LockoutStore

pytestmark = pytest.mark.anyio
FIRST = Lock(locks=1, until=1030.0, last=1000.0)
SECOND = Lock(locks=2, until=1200.5, last=1080.5)


@pytest.fixture
def store(database: Database) -> LockoutStore:
    return LockoutStore(database)


async def test_the_last_word_about_an_address_counts(store: LockoutStore) -> None:
    await store.put("a", FIRST)
    await store.put("a", SECOND)

    assert (await store.get("a"), await store.get("b")) == (SECOND, None)


async def test_an_address_can_be_forgotten_alone(store: LockoutStore) -> None:
    await store.put("a", FIRST)
    await store.put("b", SECOND)

    await store.delete("a")

    assert (await store.get("a"), await store.get("b")) == (None, SECOND)


async def test_all_can_be_forgotten_and_those_who_have_been_quiet(store: LockoutStore) -> None:
    await store.put("a", FIRST)
    await store.put("b", SECOND)

    await store.clear(before=SECOND.last)
    quiet = (await store.get("a"), await store.get("b"))
    await store.clear()

    assert quiet == (None, SECOND)
    assert await store.get("b") is None
