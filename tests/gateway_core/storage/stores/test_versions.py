import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.stores.versions import raise_version, read_versions

pytestmark = pytest.mark.anyio


async def test_a_version_grows_with_every_write(database: Database) -> None:
    async with database.transaction() as transaction:
        first = await raise_version(transaction, "combos")
        second = await raise_version(transaction, "combos")
        await raise_version(transaction, "nodes", by=10)

    assert (first, second) == (1, 2)
    assert await read_versions(database) == {"combos": 2, "nodes": 10}


async def test_a_write_that_is_undone_does_not_count(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as transaction:
            await raise_version(transaction, "combos")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await read_versions(database) == {}


async def test_other_facts_are_no_versions(database: Database) -> None:
    await database.execute("INSERT INTO meta (key, value) VALUES ('versionless', 'x')")

    assert await read_versions(database) == {}
