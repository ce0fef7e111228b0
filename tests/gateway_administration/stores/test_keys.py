import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from manual_clock import Clock

from gateway_administration.stores.key_groups import KeyGroupStore
from gateway_administration.stores.keys import KeyChange, KeyEditor
from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database
from gateway_core.storage.errors import SealBroken, UniqueViolation
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.connections import ConnectionStore
from gateway_core.storage.stores.key_usage import KeyUsageStore, Spending, additions
from gateway_core.storage.stores.keys import GROUP, ApiKey
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
TEXT = "sk-canary-text"


@pytest.fixture
def store(database: Database, vault: Vault, clock: Clock, new_id: Callable[[], str]) -> KeyEditor:
    return KeyEditor(database, vault, clock=clock, new_id=new_id)


@pytest.fixture
async def accounts(database: Database, vault: Vault) -> ConnectionStore:
    """Three accounts: ``a``, ``b`` and ``c``."""
    names = iter("abc")
    store = ConnectionStore(database, vault, new_id=lambda: next(names))
    for number in range(3):
        await store.create(NewConnection(provider="acme", name=str(number)))
    return store


async def made(store: KeyEditor, name: str = "one", **more: Any) -> ApiKey:
    return await store.create(f"sk-{name}", f"{name}-digest", "m", KeyChange(name=name, **more))


@pytest.mark.usefixtures("accounts")
async def test_a_key_comes_back_as_it_was_made(store: KeyEditor) -> None:
    change = KeyChange(
        name="laptop",
        expires_at="2031-01-01T00:00:00.000Z",
        allowed_combos=("best", "other"),
        policy={"rpmLimit": 5, "own": [1], "gone": None},
        daily_limit_tokens=7,
        provider_connection_ids=("b", "a"),
    )

    key = await store.create(TEXT, "d1", "machine", change)

    assert key == ApiKey(
        id="id-1",
        name="laptop",
        machine_id="machine",
        digest="d1",
        is_active=True,
        expires_at="2031-01-01T00:00:00.000Z",
        allowed_combos=("best", "other"),
        policy={"rpmLimit": 5, "own": [1]},
        daily_limit_tokens=7,
        provider_connection_ids=("a", "b"),
        created_at="2027-01-15T08:00:00.000Z",
        updated_at="2027-01-15T08:00:00.000Z",
        version=1,
    )
    assert await store.get(key.id) == key
    assert await store.list() == (key,)
    assert await store.count() == 1


async def test_a_change_leaves_what_it_does_not_name(store: KeyEditor, clock: Clock) -> None:
    before = await made(store, policy={"rpmLimit": 5, "maxTokens": 0}, daily_limit_tokens=9)
    clock.now += 60

    after = await store.update(
        before.id, KeyChange(is_active=False, policy={"rpmLimit": None, "tpmLimit": 8})
    )

    assert after == ApiKey(
        **{
            **{name: getattr(before, name) for name in before.__struct_fields__},
            "is_active": False,
            "policy": {"maxTokens": 0, "tpmLimit": 8},
            "updated_at": "2027-01-15T08:01:00.000Z",
            "version": 2,
        }
    )
    assert await store.get(before.id) == after


async def test_changes_of_different_members_at_once_are_all_kept(store: KeyEditor) -> None:
    key = await made(store)

    await asyncio.gather(
        *(store.update(key.id, KeyChange(policy={f"own{n}": n})) for n in range(50)),
        store.update(key.id, KeyChange(name="new")),
        store.update(key.id, KeyChange(is_active=False)),
    )

    after = await store.get(key.id)
    assert after is not None
    assert after.policy == {f"own{n}": n for n in range(50)}
    assert (after.name, after.is_active) == ("new", False)


@pytest.mark.usefixtures("accounts")
@pytest.mark.parametrize("ids", [("a", "nobody"), ("a", "a"), ("",)], ids=["gone", "twice", "none"])
async def test_accounts_that_cannot_be_leave_a_key_as_it_was(
    store: KeyEditor, ids: tuple[str, ...]
) -> None:
    key = await made(store, provider_connection_ids=("a", "b"))

    with pytest.raises(BadRequest, match="providerConnectionIds names"):
        await store.update(key.id, KeyChange(name="new", provider_connection_ids=ids))
    with pytest.raises(BadRequest, match="providerConnectionIds names"):
        await made(store, "two", provider_connection_ids=ids)

    assert await store.list() == (key,)


@pytest.mark.usefixtures("accounts")
async def test_a_scope_is_replaced_kept_and_lifted(store: KeyEditor) -> None:
    key = await made(store, provider_connection_ids=("a", "b"))

    replaced = await store.update(key.id, KeyChange(provider_connection_ids=("c",)))
    kept = await store.update(key.id, KeyChange(name="new"))
    lifted = await store.update(key.id, KeyChange(provider_connection_ids=()))

    assert replaced.provider_connection_ids == kept.provider_connection_ids == ("c",)
    assert lifted.provider_connection_ids == ()


@pytest.mark.usefixtures("accounts")
async def test_the_newly_written_keys_are_told_with_their_scope(store: KeyEditor) -> None:
    first = await made(store, "one", provider_connection_ids=("a",))
    second = await made(store, "two", provider_connection_ids=("b", "c"))

    since = await store.changed_since(first.version)

    assert since == (second,)
    assert await store.changed_since(second.version) == ()
    assert {key.id for key in await store.changed_since(0)} == {first.id, second.id}


async def test_a_text_is_told_and_is_sealed_in_its_row(
    store: KeyEditor, database: Database
) -> None:
    key = await store.create(TEXT, "d1", "m", KeyChange(name="one"))

    rows = await database.fetch("SELECT * FROM api_keys")

    assert await store.reveal(key.id) == TEXT
    assert TEXT not in str([dict(row) for row in rows])
    assert "canary" not in repr(key)


async def test_a_text_that_was_moved_to_another_row_is_not_told(
    store: KeyEditor, database: Database
) -> None:
    one, two = await made(store, "one"), await made(store, "two")
    sealed = await database.fetch("SELECT secret FROM api_keys WHERE id = :id", id=one.id)
    await database.execute(
        "UPDATE api_keys SET secret = :secret WHERE id = :id", id=two.id, **sealed[0]
    )

    with pytest.raises(SealBroken):
        await store.reveal(two.id)


async def test_one_text_is_one_key(store: KeyEditor) -> None:
    key = await made(store)

    with pytest.raises(UniqueViolation):
        await made(store)

    assert await store.list() == (key,)


@pytest.mark.usefixtures("accounts")
async def test_a_key_goes_with_its_scope_its_labels_and_its_sums(
    store: KeyEditor, database: Database
) -> None:
    groups, usage = KeyGroupStore(database), KeyUsageStore(database)
    gone = await made(store, "one", provider_connection_ids=("a",), groups=("team",))
    kept = await made(store, "two", provider_connection_ids=("b",), groups=("team",))
    spent = [(key.id, "2031-01-01", Spending(1, 2, 3, 4)) for key in (gone, kept)]
    await database.write_all(additions(spent))

    await store.delete(gone.id)

    assert await store.list() == (kept,)
    assert await groups.labels() == {kept.id: ("team",)}
    assert set(await usage.ever()) == {kept.id}
    for table in ("api_key_connections", "key_group_members", "key_days"):
        rows = await database.fetch(f"SELECT DISTINCT api_key_id FROM {table}")
        assert [row["api_key_id"] for row in rows] == [kept.id]


async def test_every_write_raises_the_version(store: KeyEditor, database: Database) -> None:
    key = await made(store)
    await store.update(key.id, KeyChange(name="new"))
    await store.delete(key.id)

    assert (await read_versions(database))[GROUP] == 3


async def test_what_is_not_there_is_not_found(store: KeyEditor) -> None:
    assert await store.get("x") is None
    for act in (store.update("x", KeyChange()), store.delete("x"), store.reveal("x")):
        with pytest.raises(NotFound, match="API key not found"):
            await act


async def test_the_key_of_the_digests_stays_while_the_master_key_does(
    store: KeyEditor, database: Database, vault: Vault
) -> None:
    assert KeyEditor(database, vault).index_key == store.index_key
    assert KeyEditor(database, Vault(bytes(32))).index_key != store.index_key
