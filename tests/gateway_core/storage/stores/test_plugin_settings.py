import pytest
from msgspec import UNSET

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.database import Database
from gateway_core.storage.stores.plugin_document import NOTHING, PluginDocument
from gateway_core.storage.stores.plugin_settings import LONGEST, PluginSettingsStore
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
SECRET = frozenset({"token", "pin"})


@pytest.fixture
def store(database: Database, vault: Vault) -> PluginSettingsStore:
    return PluginSettingsStore(database, vault)


async def test_what_is_set_comes_back_and_the_rest_stays(store: PluginSettingsStore) -> None:
    await store.patch("acme", {"region": "eu", "token": "canary", "tries": 3}, SECRET)
    await store.patch("acme", {"region": "us", "tries": UNSET, "pin": [1, 2]}, SECRET)
    await store.patch("other", {"region": None})

    members = {"region": "us", "token": "canary", "pin": [1, 2]}
    assert await store.get("acme") == PluginDocument(members=members)
    assert await store.all() == {
        "acme": PluginDocument(members=members),
        "other": PluginDocument(members={"region": None}),
    }


async def test_nothing_is_stored_of_a_plugin_at_first(store: PluginSettingsStore) -> None:
    assert await store.get("acme") == NOTHING
    assert await store.all() == {}


async def test_secrets_are_sealed_and_told_by_no_repr(
    store: PluginSettingsStore, database: Database
) -> None:
    await store.patch("acme", {"token": "canary", "pin": {"deep": "canary"}}, SECRET)

    assert "canary" not in str(await database.fetch("SELECT * FROM plugin_settings"))
    assert "canary" not in repr(await store.get("acme"))


async def test_a_member_that_became_a_secret_is_sealed_by_the_next_write(
    store: PluginSettingsStore, database: Database
) -> None:
    await store.patch("acme", {"token": "canary"})

    await store.patch("acme", {"region": "eu"}, SECRET)

    assert "canary" not in str(await database.fetch("SELECT * FROM plugin_settings"))
    assert (await store.get("acme")).members == {"token": "canary", "region": "eu"}


@pytest.mark.parametrize("place", ["another plugin", "another member"])
async def test_a_sealed_text_opens_only_where_it_was_sealed(
    store: PluginSettingsStore, database: Database, place: str
) -> None:
    await store.patch("acme", {"token": "canary"}, SECRET)
    await store.patch("other", {"token": "word", "region": "eu"}, SECRET)
    if place == "another plugin":
        moved = "SELECT secrets FROM plugin_settings WHERE plugin = 'acme'"
    else:
        moved = "SELECT replace(secrets, 'token', 'pin')"
    await database.execute(f"UPDATE plugin_settings SET secrets = ({moved}) WHERE plugin = 'other'")

    broken = await store.get("other")
    await store.patch("other", {broken.broken[0]: "new"}, SECRET)

    assert broken.members == {"region": "eu"}
    assert len(broken.broken) == 1
    assert (await store.get("other")).members == {"region": "eu", broken.broken[0]: "new"}


async def test_a_broken_secret_stays_as_it_is_until_it_is_set(
    store: PluginSettingsStore, database: Database
) -> None:
    await store.patch("acme", {"token": "canary"}, SECRET)
    damaged = '{"token":"v1.AAAA"}'
    await database.execute("UPDATE plugin_settings SET secrets = :damaged", damaged=damaged)

    await store.patch("acme", {"region": "eu"}, SECRET)

    [row] = await database.fetch("SELECT secrets FROM plugin_settings")
    assert row["secrets"] == damaged


async def test_a_document_has_a_longest_length_and_is_then_left_as_it_was(
    store: PluginSettingsStore,
) -> None:
    await store.patch("acme", {"region": "eu"})

    with pytest.raises(BadRequest, match="at most 1048576 characters"):
        await store.patch("acme", {"region": "x" * LONGEST})

    assert (await store.get("acme")).members == {"region": "eu"}


async def test_a_document_is_cleared_once(store: PluginSettingsStore) -> None:
    await store.patch("acme", {"region": "eu"})
    await store.patch("other", {"region": "eu"})

    assert await store.clear("acme") is True
    assert await store.clear("acme") is False
    assert list(await store.all()) == ["other"]


async def test_every_write_is_counted(store: PluginSettingsStore, database: Database) -> None:
    await store.patch("acme", {"region": "eu"})
    await store.clear("acme")
    await store.clear("acme")

    assert await read_versions(database) == {"plugin_settings": 2}
