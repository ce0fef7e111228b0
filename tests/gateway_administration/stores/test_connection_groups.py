from collections.abc import Callable

import pytest

from gateway_administration.stores.connection_groups import (
    ConnectionGroup,
    ConnectionGroupStore,
    NameTaken,
)
from gateway_core.contracts.errors import NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.connections import ConnectionStore
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(
    database: Database, clock: Callable[[], float], new_id: Callable[[], str]
) -> ConnectionGroupStore:
    return ConnectionGroupStore(database, clock=clock, new_id=new_id)


@pytest.fixture
async def accounts(database: Database, vault: Vault) -> ConnectionStore:
    """Three accounts: ``a``, ``b`` and ``c``, in this order."""
    names = iter("abc")
    store = ConnectionStore(database, vault, new_id=lambda: next(names))
    for number in range(3):
        await store.create(NewConnection(provider="acme", name=str(number)))
    return store


@pytest.mark.usefixtures("accounts")
async def test_a_group_comes_back_as_it_was_made(store: ConnectionGroupStore) -> None:
    made = await store.create("work", ["c", "a", "c"])

    assert made == ConnectionGroup(
        id="id-1",
        name="work",
        connection_ids=("a", "c"),
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
    )
    assert await store.get("id-1") == made
    assert await store.list() == (made,)


@pytest.mark.usefixtures("accounts")
async def test_members_come_go_and_are_replaced(store: ConnectionGroupStore) -> None:
    made = await store.create("work", ["a"])

    added = await store.add(made.id, "b")
    again = await store.add(made.id, "b")
    await store.remove(made.id, "a")
    renamed = await store.update(made.id, name="home")
    replaced = await store.update(made.id, connection_ids=["c"])

    assert added.connection_ids == again.connection_ids == ("a", "b")
    assert (renamed.name, renamed.connection_ids) == ("home", ("b",))
    assert (replaced.name, replaced.connection_ids) == ("home", ("c",))


async def test_an_account_that_is_deleted_leaves_its_groups(
    store: ConnectionGroupStore, accounts: ConnectionStore
) -> None:
    made = await store.create("work", ["a", "b"])

    await accounts.delete("a")

    found = await store.get(made.id)
    assert found is not None
    assert found.connection_ids == ("b",)
    assert [group.connection_ids for group in await store.list()] == [("b",)]


@pytest.mark.usefixtures("accounts")
async def test_a_name_is_given_once(store: ConnectionGroupStore) -> None:
    await store.create("work")
    other = await store.create("home")

    with pytest.raises(NameTaken, match="named work already exists"):
        await store.create("work", ["a"])
    with pytest.raises(NameTaken):
        await store.update(other.id, name="work")

    assert [group.name for group in await store.list()] == ["home", "work"]


@pytest.mark.usefixtures("accounts")
async def test_an_account_that_does_not_exist_changes_nothing(store: ConnectionGroupStore) -> None:
    made = await store.create("work", ["a"])

    with pytest.raises(NotFound, match="Connection not found"):
        await store.create("home", ["nobody"])
    with pytest.raises(NotFound, match="Connection not found"):
        await store.update(made.id, name="other", connection_ids=["b", "nobody"])

    assert await store.list() == (made,)


@pytest.mark.usefixtures("accounts")
async def test_what_is_not_there_is_said_to_be_missing(store: ConnectionGroupStore) -> None:
    made = await store.create("work", ["a"])
    with pytest.raises(NotFound, match="not in this group"):
        await store.remove(made.id, "b")
    await store.delete(made.id)

    assert await store.get(made.id) is None
    with pytest.raises(NotFound, match="Connection group not found"):
        await store.add(made.id, "a")
    with pytest.raises(NotFound, match="Connection group not found"):
        await store.delete(made.id)
