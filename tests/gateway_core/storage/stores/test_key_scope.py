from collections.abc import Callable

import pytest

from gateway_administration.stores.keys import KeyChange, KeyEditor
from gateway_administration.stores.nodes import NewNode, NodeEditor
from gateway_core.storage.database import Database
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.connections import ConnectionStore
from gateway_core.storage.stores.key_scope import ScopeWouldBroaden, release
from gateway_core.storage.stores.keys import GROUP, ApiKey
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio


@pytest.fixture
def keys(database: Database, vault: Vault, new_id: Callable[[], str]) -> KeyEditor:
    return KeyEditor(database, vault, new_id=new_id)


@pytest.fixture
async def accounts(database: Database, vault: Vault) -> ConnectionStore:
    """Three accounts ``a``, ``b`` and ``c``, named A, B and C."""
    names = iter("abc")
    store = ConnectionStore(database, vault, new_id=lambda: next(names))
    for name in "ABC":
        await store.create(NewConnection(provider="acme", name=name))
    return store


async def bound(keys: KeyEditor, name: str, *ids: str) -> ApiKey:
    change = KeyChange(name=name, provider_connection_ids=ids)
    return await keys.create(f"sk-{name}", name, "m", change)


async def scopes(keys: KeyEditor) -> dict[str, tuple[str, ...]]:
    return {key.name: key.provider_connection_ids for key in await keys.list()}


async def test_the_last_account_of_a_key_stays(keys: KeyEditor, accounts: ConnectionStore) -> None:
    await bound(keys, "wide", "a", "b")
    await bound(keys, "narrow", "a")

    with pytest.raises(ScopeWouldBroaden) as refused:
        await accounts.delete("a")

    assert refused.value.status == 409
    assert refused.value.code == "API_KEY_SCOPE_WOULD_BROADEN"
    assert '"A" is the last scoped account of the API key "narrow"' in refused.value.message
    assert [account.id for account in await accounts.list()] == ["a", "b", "c"]
    assert await scopes(keys) == {"wide": ("a", "b"), "narrow": ("a",)}


async def test_one_of_several_accounts_leaves_the_scope(
    keys: KeyEditor, accounts: ConnectionStore
) -> None:
    key = await bound(keys, "wide", "a", "b")
    other = await bound(keys, "other", "c")

    await accounts.delete("a")

    assert await scopes(keys) == {"wide": ("b",), "other": ("c",)}
    reported = await keys.changed_since(other.version)
    assert [(one.id, one.provider_connection_ids) for one in reported] == [(key.id, ("b",))]


async def test_an_account_that_no_key_names_changes_no_key(
    keys: KeyEditor, accounts: ConnectionStore, database: Database
) -> None:
    await bound(keys, "free")
    await bound(keys, "other", "c")
    before = (await read_versions(database))[GROUP]

    await accounts.delete("a")

    assert (await read_versions(database))[GROUP] == before
    assert await scopes(keys) == {"free": (), "other": ("c",)}


async def test_accounts_that_go_together_count_together(
    keys: KeyEditor, accounts: ConnectionStore, database: Database
) -> None:
    await bound(keys, "wide", "a", "b")

    with pytest.raises(ScopeWouldBroaden, match='"B" is the last'):
        async with database.transaction() as transaction:
            await release(transaction, ["a", "b"])
    async with database.transaction() as transaction:
        await release(transaction, ["a", "a", "c"])

    assert await scopes(keys) == {"wide": ("b",)}
    assert len(await accounts.list()) == 3


async def test_a_node_goes_only_when_no_key_is_bound_to_its_accounts_alone(
    keys: KeyEditor, accounts: ConnectionStore, database: Database, vault: Vault
) -> None:
    nodes = NodeEditor(database)
    node = await nodes.create(NewNode(name="Mine", prefix="mine"))
    names = iter(("n1", "n2"))
    own = ConnectionStore(database, vault, new_id=lambda: next(names))
    for name in ("N1", "N2"):
        await own.create(NewConnection(provider=node.id, name=name))
    key = await bound(keys, "one", "n1", "n2")

    with pytest.raises(ScopeWouldBroaden, match='"N2" is the last scoped account'):
        await nodes.delete(node.id)
    still = await nodes.get(node.id), await scopes(keys), await accounts.list(node.id)
    await keys.update(key.id, KeyChange(provider_connection_ids=("n1", "n2", "c")))
    await nodes.delete(node.id)

    assert still[0] == node
    assert (still[1], len(still[2])) == ({"one": ("n1", "n2")}, 2)
    assert await scopes(keys) == {"one": ("c",)}
    assert await nodes.list() == ()
