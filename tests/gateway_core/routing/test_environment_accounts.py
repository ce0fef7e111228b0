"""Accounts that process variables make, change and set aside."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest
from snapshots import provider

from gateway_core import ProviderSpec
from gateway_core.config.environment import Environment
from gateway_core.routing.environment_accounts import account_data, adopt
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores.connection import Connection, ConnectionChange, NewConnection
from gateway_core.storage.stores.connections import ConnectionStore
from gateway_core.storage.vault import Vault

ACME = provider(
    "acme", environment=("ACME_KEY", "OLD_ACME_KEY"), environment_data={"ACME_REGION": "region"}
)
KEYS = [Vault(bytes([number]) * 32) for number in (1, 2)]

Stores = list[ConnectionStore]


def with_stores(work: Callable[[ConnectionStore, ConnectionStore], Awaitable[None]]) -> None:
    """Two stores on one database whose secrets the other cannot open."""

    async def main() -> None:
        database = await open_sqlite(":memory:")
        await migrate(database, packaged_migrations("sqlite"), lambda: 1_800_000_000.0)
        try:
            await work(*(ConnectionStore(database, vault) for vault in KEYS))
        finally:
            await database.close()

    asyncio.run(main())


async def adopted(
    store: ConnectionStore, variables: Mapping[str, str], spec: ProviderSpec = ACME
) -> list[Connection]:
    await adopt(store, [spec], Environment(variables=variables))
    return list(await store.list())


def test_a_variable_makes_an_account() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        [held] = await adopted(store, {"ACME_KEY": "k1", "ACME_REGION": "eu"})

        assert (held.provider, held.name, held.is_active) == ("acme", "ACME_KEY", True)
        assert held.secrets["apiKey"] == "k1"
        assert dict(held.provider_data) == {"region": "eu"}

    with_stores(work)


def test_the_same_variables_change_nothing() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        for variables in ({"ACME_KEY": "k1"}, {"ACME_REGION": "eu"}):
            first = await adopted(store, variables)
            assert await adopted(store, variables) == first

    with_stores(work)


def test_a_changed_variable_changes_the_account_and_nothing_stale_is_left() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        [before] = await adopted(store, {"ACME_KEY": "k1", "ACME_REGION": "eu"})
        [changed] = await adopted(store, {"ACME_KEY": "k2"})
        assert (changed.id, changed.secrets["apiKey"]) == (before.id, "k2")
        assert dict(changed.provider_data) == {}
        [without] = await adopted(store, {"ACME_REGION": "us"})
        assert dict(without.provider_data) == {"region": "us"}
        assert "apiKey" not in without.secrets

    with_stores(work)


def test_the_account_of_a_variable_that_is_gone_is_set_aside_and_comes_back() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        [before] = await adopted(store, {"ACME_KEY": "k1"})
        [aside] = await adopted(store, {})
        assert (aside.id, aside.is_active) == (before.id, False)
        [back] = await adopted(store, {"ACME_KEY": "k1"})
        assert (back.id, back.is_active) == (before.id, True)

    with_stores(work)


def test_an_account_that_the_operator_switched_off_stays_off() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        [made] = await adopted(store, {"ACME_KEY": "k1"})
        await store.update(made.id, ConnectionChange(is_active=False))

        [same] = await adopted(store, {"ACME_KEY": "k1"})
        [changed] = await adopted(store, {"ACME_KEY": "k2"})

        assert not same.is_active
        assert (changed.is_active, changed.secrets["apiKey"]) == (False, "k2")

    with_stores(work)


def test_the_operators_own_accounts_are_left_alone() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        mine = await store.create(
            NewConnection(provider="acme", name="mine", data={"apiKey": "own"})
        )
        assert await adopted(store, {}) == [mine]
        await adopted(store, {"ACME_KEY": "k1"})
        assert await store.get(mine.id) == mine

    with_stores(work)


def test_an_operators_account_of_the_same_name_does_not_stop_the_start() -> None:
    async def work(store: ConnectionStore, _: ConnectionStore) -> None:
        await store.create(NewConnection(provider="acme", name="ACME_KEY", data={"apiKey": "own"}))

        accounts = await adopted(store, {"ACME_KEY": "k1"})

        assert [each.secrets["apiKey"] for each in accounts] == ["own", "k1"]
        assert await adopted(store, {"ACME_KEY": "k1"}) == accounts

    with_stores(work)


def test_an_account_that_no_longer_opens_is_made_again_from_its_variable() -> None:
    async def work(store: ConnectionStore, other: ConnectionStore) -> None:
        await adopted(store, {"ACME_KEY": "k1"})
        assert [each.broken for each in await other.list()] == [True]

        [held] = await adopted(other, {"ACME_KEY": "k1"})

        assert (held.broken, held.secrets["apiKey"]) == (False, "k1")

    with_stores(work)


def test_an_account_that_no_longer_opens_can_be_set_aside() -> None:
    async def work(store: ConnectionStore, other: ConnectionStore) -> None:
        await adopted(store, {"ACME_KEY": "k1"})

        [held] = await adopted(other, {})

        assert not held.is_active
        await other.update(held.id, ConnectionChange(name="kept"))

    with_stores(work)


@pytest.mark.parametrize(
    ("variables", "key", "data"),
    [
        ({"ACME_KEY": "a", "OLD_ACME_KEY": "b"}, "a", {}),
        ({"OLD_ACME_KEY": "b"}, "b", {}),
        ({"ACME_REGION": "eu"}, None, {"region": "eu"}),
    ],
    ids=["first wins", "second", "data alone"],
)
def test_the_first_variable_that_is_set_holds_the_key(
    variables: dict[str, str], key: str | None, data: dict[str, str]
) -> None:
    read = account_data(ACME, variables)

    assert read is not None
    assert read.get("apiKey") == key
    assert read["providerSpecificData"] == data


def test_no_variable_means_no_account() -> None:
    assert account_data(ACME, {"OTHER_KEY": "x"}) is None
    assert account_data(provider("plain"), {"ACME_KEY": "x"}) is None
