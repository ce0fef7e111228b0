import asyncio
from typing import Any

import pytest

from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.database import Database
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.stores.settings import SettingsStore
from gateway_core.storage.stores.versions import read_versions
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
SECRETS = {
    "postgresUrl": "postgres://me:canary-pg@db",
    "mfaSecret": "canary-mfa",
    "oidcClientSecret": "canary-oidc",
    "outboundProxyUrl": "http://me:canary-proxy@proxy",
    "newVendorToken": "canary-unknown",
    "upstreamProxyConfig": {"acme": "http://me:canary-config@proxy"},
}


@pytest.fixture
def store(database: Database, vault: Vault) -> SettingsStore:
    return SettingsStore(database, vault)


async def test_before_the_first_write_the_defaults_are_in_force(store: SettingsStore) -> None:
    assert await store.read() == Settings()
    assert await store.document() == {}


async def test_a_patch_changes_what_it_names(store: SettingsStore) -> None:
    await store.patch({"requireApiKey": True, "stickyRoundRobinLimit": 7})

    after = await store.patch({"requireApiKey": False, "unknown": {"a": [1]}})

    assert (after.require_api_key, after.sticky_round_robin_limit) == (False, 7)
    assert after.extra == {"unknown": {"a": [1]}}
    assert await store.read() == after
    assert await store.document() == {
        "requireApiKey": False,
        "stickyRoundRobinLimit": 7,
        "unknown": {"a": [1]},
    }


async def test_null_brings_a_default_back(store: SettingsStore) -> None:
    await store.patch({"stickyRoundRobinLimit": 7, "mfaSecret": "s", "unknown": 1})

    await store.patch({"stickyRoundRobinLimit": None, "mfaSecret": None, "unknown": None})

    assert await store.document() == {"unknown": None}


async def test_a_patch_with_one_bad_value_changes_nothing(store: SettingsStore) -> None:
    with pytest.raises(BadRequest, match="Invalid stickyRoundRobinLimit"):
        await store.patch({"requireApiKey": True, "stickyRoundRobinLimit": 70})

    assert await store.document() == {}


async def test_parallel_patches_lose_nothing(store: SettingsStore) -> None:
    await asyncio.gather(*(store.patch({f"key{n}": n}) for n in range(50)))

    assert await store.document() == {f"key{n}": n for n in range(50)}


async def test_every_patch_is_counted(store: SettingsStore, database: Database) -> None:
    await store.patch({"a": 1})
    await store.patch({"a": 2})

    assert await read_versions(database) == {"settings": 2}


async def test_secrets_are_sealed_and_come_back(store: SettingsStore, database: Database) -> None:
    settings = await store.patch(SECRETS)

    rows = await database.fetch("SELECT * FROM settings")
    assert "canary" not in str(rows)
    assert await store.document() == SECRETS
    assert (settings.mfa_secret, settings.extra) == (
        "canary-mfa",
        {"newVendorToken": "canary-unknown"},
    )


NESTED = {
    "tool": {"colour": "blue", "login": {"apiKey": "canary-1", "user": "me"}},
    "tools": [{"name": "a", "authToken": "canary-2"}],
    "deep": {"list": [[{"clientSecret": "canary-3"}]], "plain": 1},
}


async def test_secrets_inside_an_unknown_key_are_sealed_too(
    store: SettingsStore, database: Database
) -> None:
    settings = await store.patch(NESTED)

    rows = await database.fetch("SELECT * FROM settings")
    assert "canary" not in str(rows)
    assert "blue" in str(rows)
    assert await store.document() == NESTED
    assert settings.extra == NESTED


async def test_an_unknown_key_is_replaced_as_a_whole(store: SettingsStore) -> None:
    await store.patch(NESTED)

    await store.patch({"tool": {"colour": "red"}, "tools": None, "deep": "gone"})

    assert await store.document() == {"tool": {"colour": "red"}, "tools": None, "deep": "gone"}


async def test_what_opens_of_an_unknown_key_is_there_when_its_secret_is_broken(
    store: SettingsStore, database: Database
) -> None:
    await store.patch({"tool": NESTED["tool"]})
    await break_seal(database, "tool")

    settings = await store.read()

    assert settings.invalid == ("tool",)
    assert settings.extra == {"tool": {"colour": "blue", "login": {"user": "me"}}}
    with pytest.raises(SealBroken):
        await store.patch({"tool": {"colour": "red"}})


async def break_seal(database: Database, key: str) -> None:
    rows = await database.fetch("SELECT secrets FROM settings")
    secrets: str = rows[0]["secrets"].replace(f'"{key}":"v1.', f'"{key}":"v1.AAAA')
    await database.execute("UPDATE settings SET secrets = :secrets", secrets=secrets)


async def test_a_broken_seal_is_named_and_harms_no_other(
    store: SettingsStore, database: Database
) -> None:
    await store.patch({**SECRETS, "requireApiKey": True})
    await break_seal(database, "mfaSecret")

    settings = await store.read()

    assert settings.invalid == ("mfaSecret",)
    assert (settings.mfa_secret, settings.require_api_key) == ("", True)
    assert settings.oidc_client_secret == "canary-oidc"


async def test_a_broken_seal_is_given_up_only_on_purpose(
    store: SettingsStore, database: Database
) -> None:
    await store.patch(SECRETS)
    await break_seal(database, "mfaSecret")
    before = await database.fetch("SELECT * FROM settings")

    with pytest.raises(SealBroken):
        await store.patch({"mfaSecret": "new"})
    assert await database.fetch("SELECT * FROM settings") == before

    await store.patch({"mfaSecret": None})
    after = await store.patch({"mfaSecret": "new"})
    assert (after.mfa_secret, after.invalid) == ("new", ())


async def test_a_sealed_setting_opens_only_under_its_own_key(
    store: SettingsStore, database: Database
) -> None:
    await store.patch({"postgresUrl": "a", "oidcClientSecret": "b"})
    rows = await database.fetch("SELECT secrets FROM settings")
    swapped = (
        rows[0]["secrets"]
        .replace("postgresUrl", "x")
        .replace("oidcClientSecret", "postgresUrl")
        .replace("x", "oidcClientSecret", 1)
    )
    await database.execute("UPDATE settings SET secrets = :secrets", secrets=swapped)

    settings: Any = await store.read()

    assert set(settings.invalid) == {"postgresUrl", "oidcClientSecret"}
