import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.stores.kv import ALIASES, PRICING, KeyValueStore
from gateway_core.storage.stores.versions import read_versions

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(database: Database) -> KeyValueStore:
    return KeyValueStore(database)


async def test_values_come_back_as_they_were_put(store: KeyValueStore) -> None:
    values = {"a": "acme/m", "b": {"provider": "acme", "model": "m"}, "c": None, "d": [1, 2.5]}

    await store.put(ALIASES, values)

    assert await store.all(ALIASES) == values
    assert await store.get(ALIASES, "b") == {"provider": "acme", "model": "m"}
    assert await store.get(ALIASES, "nothing") is None


async def test_scopes_are_apart(store: KeyValueStore) -> None:
    await store.put(ALIASES, {"a": 1})
    await store.put(PRICING, {"a": 2})

    await store.delete(PRICING, "a")

    assert await store.all(ALIASES) == {"a": 1}
    assert await store.all(PRICING) == {}


async def test_putting_again_replaces_the_value(store: KeyValueStore) -> None:
    await store.put(ALIASES, {"a": 1, "b": 1})

    await store.put(ALIASES, {"a": 2})

    assert await store.all(ALIASES) == {"a": 2, "b": 1}


async def test_replacing_a_scope_drops_the_rest(store: KeyValueStore) -> None:
    await store.put(ALIASES, {"a": 1, "b": 1})

    await store.replace(ALIASES, {"c": 3})

    assert await store.all(ALIASES) == {"c": 3}


async def test_deleting_tells_whether_there_was_one(store: KeyValueStore) -> None:
    await store.put(ALIASES, {"a": 1})

    assert await store.delete(ALIASES, "a")
    assert not await store.delete(ALIASES, "a")


async def test_each_scope_counts_its_writes(store: KeyValueStore, database: Database) -> None:
    await store.put(ALIASES, {"a": 1})
    await store.delete(ALIASES, "a")
    await store.delete(ALIASES, "a")
    await store.replace(PRICING, {})

    assert await read_versions(database) == {"kv.aliases": 2, "kv.pricing": 1}
