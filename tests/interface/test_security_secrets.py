"""Secrets at rest: none is readable in the data directory, none decrypts elsewhere (S31, S34)."""

import base64
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway, opened
from caller_kinds import with_key, with_session
from hypothesis import given
from hypothesis import strategies as st
from stored_secrets import (
    SETTINGS,
    create_key,
    every_byte,
    find_texts,
    open_with_secrets,
    store_every_secret,
)

from gateway_core.config.errors import SecretLost, WrongMasterKey
from gateway_core.storage.opening import SEALED

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with open_with_secrets(tmp_path) as here:
        yield here


async def test_no_secret_of_any_kind_is_in_a_byte_of_the_data_directory(
    admin: AdminGateway, tmp_path: Path
) -> None:
    texts = await store_every_secret(admin)

    assert find_texts(texts, every_byte(tmp_path)) == set()


def modes_of(root: Path) -> dict[str, int]:
    """The permissions of everything below a directory, and its own."""
    find_texts = (root, *root.rglob("*"))
    return {str(each.relative_to(root)): stat.S_IMODE(each.stat().st_mode) for each in find_texts}


async def test_every_file_is_private(admin: AdminGateway, tmp_path: Path) -> None:
    await store_every_secret(admin)
    await admin.call("POST", "/api/translator/save", {"file": "1_req_client.json", "content": "{}"})

    modes = modes_of(tmp_path)
    wide = {
        name: oct(mode)
        for name, mode in modes.items()
        if mode != (0o700 if (tmp_path / name).is_dir() else 0o600)
    }
    assert wide == {}
    assert "db/data.sqlite-wal" in modes


@given(texts=st.text(st.characters(codec="ascii"), min_size=8, max_size=40), before=st.binary())
def test_the_search_finds_a_text_however_it_is_written(texts: str, before: bytes) -> None:
    plain = texts.encode()
    written = (
        before + plain,
        base64.b64encode(before + plain + before),
        base64.urlsafe_b64encode(before + plain),
        (before + plain).hex().encode(),
    )

    for each in written:
        assert find_texts((texts,), each) == {texts}


COLUMNS = {
    "connections": ("secrets", "/api/providers", "connection"),
    "proxy_pools": ("proxy_url", "/api/proxy-pools", "proxyPool"),
}


async def three(admin: AdminGateway, table: str) -> list[str]:
    """The ids of three rows with a secret each."""
    _, path, member = COLUMNS[table]
    ids = []
    for number in range(3):
        body: dict[str, Any] = {"provider": "acme", "name": f"n{number}", "apiKey": KEY}
        if table == "proxy_pools":
            body = {"name": f"n{number}", "proxyUrl": f"http://me:word-{number}@127.0.0.1:9"}
        ids.append((await admin.call("POST", path, body, status=201))[member]["id"])
    return ids


async def sealed(admin: AdminGateway, table: str, column: str) -> dict[str, str]:
    rows = await admin.core.stores.database.fetch(f"SELECT id, {column} AS it FROM {table}")
    return {row["id"]: row["it"] for row in rows}


async def put(admin: AdminGateway, table: str, column: str, texts: dict[str, str]) -> None:
    """Write to the database file directly, without the store."""
    for identity, text in texts.items():
        await admin.core.stores.database.execute(
            f"UPDATE {table} SET {column} = :text WHERE id = :id", text=text, id=identity
        )


def flipped(text: str) -> str:
    return f"{text[:-9]}{'B' if text[-9] == 'A' else 'A'}{text[-8:]}"


def damaged(ids: list[str], texts: dict[str, str], manner: str) -> dict[str, str]:
    """The altered texts of some rows; the last row stays as it is."""
    one, two, _ = ids
    if manner == "swapped":
        return {one: texts[two], two: texts[one]}
    return {one: flipped(texts[one])}


@pytest.mark.parametrize("manner", ["flipped", "swapped"])
@pytest.mark.parametrize("table", COLUMNS)
async def test_a_damaged_secret_is_reported_on_its_row_and_unchanged(
    admin: AdminGateway, table: str, manner: str
) -> None:
    column, path, member = COLUMNS[table]
    ids = await three(admin, table)
    bad = damaged(ids, await sealed(admin, table, column), manner)
    await put(admin, table, column, bad)
    await admin.core.refresh()

    for identity in ids:
        row = (await admin.call("GET", f"{path}/{identity}"))[member]
        assert (row["testStatus"] == "error") is (identity in bad)
        assert "word-" not in str(row) or identity not in bad
        if "lastError" in row and identity in bad:
            assert "cannot be opened" in row["lastError"]
    await admin.client.put(f"{path}/{ids[0]}", json={"name": "renamed"})
    await admin.call("PUT", f"{path}/{ids[2]}", {"name": "also renamed"})
    after = await sealed(admin, table, column)
    assert {identity: after[identity] for identity in bad} == bad
    await admin.call("DELETE", f"{path}/{ids[0]}")


async def test_a_call_uses_the_account_whose_secret_can_be_decrypted(admin: AdminGateway) -> None:
    ids = await three(admin, "connections")
    texts = await sealed(admin, "connections", "secrets")
    await put(admin, "connections", "secrets", damaged(ids, texts, "swapped"))
    await admin.call("PATCH", "/api/settings", {"cavemanEnabled": False})
    await admin.call("PUT", f"/api/providers/{ids[2]}", {"name": "the good one"})

    answer = await admin.chat("acme/large")

    assert answer.status_code == 200
    assert [received.headers["authorization"] for received in admin.vendor.received] == [
        f"Bearer {KEY}"
    ]


async def test_a_key_whose_text_was_moved_is_not_revealed_and_still_works(
    admin: AdminGateway,
) -> None:
    one, two = await create_key(admin, "one"), await create_key(admin, "two")
    texts = await sealed(admin, "api_keys", "secret")
    ids = list(texts)
    moved = {ids[0]: texts[ids[1]], ids[1]: flipped(texts[ids[1]])}
    await put(admin, "api_keys", "secret", moved)

    async with with_session(admin) as here:
        for identity in ids:
            answer = await here.client.get(f"/api/keys/{identity}/reveal")
            assert answer.status_code >= 400
            assert "key" not in answer.json()
            assert one not in answer.text
            assert two not in answer.text

    assert await sealed(admin, "api_keys", "secret") == moved
    assert (await admin.chat("acme/large", authorization=f"Bearer {one}")).status_code != 401


async def test_a_damaged_setting_affects_no_other(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", SETTINGS)
    database = admin.core.stores.database
    before = (await database.fetch("SELECT secrets FROM settings"))[0]["secrets"]
    texts = msgspec.json.decode(before)
    texts["oidcClientSecret"] = texts["outboundProxyUrl"]
    after = msgspec.json.encode(texts).decode()
    await database.execute("UPDATE settings SET secrets = :text", text=after)

    shown = await admin.call("GET", "/api/settings")
    await admin.call("PATCH", "/api/settings", {"comboStrategy": "round-robin"})

    assert shown["outboundProxyUrl"] == SETTINGS["outboundProxyUrl"]
    assert shown["oidcConfigured"] is False
    now = msgspec.json.decode((await database.fetch("SELECT secrets FROM settings"))[0]["secrets"])
    assert now["oidcClientSecret"] == texts["oidcClientSecret"]


async def test_without_its_master_key_a_gateway_does_not_start_or_create_another(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, {}) as admin:
        await admin.connect()
    path, database = tmp_path / "master-key", tmp_path / "db" / "data.sqlite"
    key, stored = path.read_bytes(), database.read_bytes()

    path.unlink()
    with pytest.raises(SecretLost, match="master-key"):
        async with opened(tmp_path, {}):
            pass
    assert not path.exists()

    path.write_bytes(b"0" * len(key))
    with pytest.raises(WrongMasterKey, match="master-key"):
        async with opened(tmp_path, {}):
            pass
    assert path.read_bytes() == b"0" * len(key)
    assert database.read_bytes() == stored

    path.write_bytes(key)
    async with opened(tmp_path, {}) as admin:
        admin.vendor.key = None
        assert (await admin.call("GET", "/api/providers"))["connections"][0]["name"] == "main"


async def test_every_encrypted_column_is_known(admin: AdminGateway) -> None:
    await store_every_secret(admin)
    database, holds = admin.core.stores.database, set()
    for table in await database.fetch("SELECT name FROM sqlite_master WHERE type = 'table'"):
        for row in await database.fetch(f"SELECT * FROM {table['name']}"):
            for column, value in row.items():
                if isinstance(value, str) and "v1." in value:
                    holds.add((table["name"], column))

    assert holds - {("meta", "value")} == set(SEALED)


HIDDEN_AWAY: dict[str, Any] = {
    "list": [{"apiKey": "in-a-list-0001"}, [{"password": "in-a-list-0002"}]],
    "deep": {"list": [{"er": {"clientSecret": "in-a-list-0003"}}]},
    "proxies": [{"proxyUrl": "socks5://me:in-a-list-0004@h.test:1"}],
}
PROXIED: dict[str, Any] = {
    "proxyUrl": "socks5://me:word-0005@h.test:1",
    "deep": {"connectionProxyUrl": "socks5://me:word-0006@h.test:1"},
}


async def test_a_secret_in_a_list_is_encrypted_and_masked(
    admin: AdminGateway, tmp_path: Path
) -> None:
    made = await admin.connect(providerSpecificData={**HIDDEN_AWAY, "region": "eu"})
    texts = tuple(f"in-a-list-000{number}" for number in range(1, 5))

    shown = await admin.client.get(f"/api/providers/{made['id']}")

    assert find_texts(texts, every_byte(tmp_path)) == set()
    assert find_texts(texts[:3], shown.content) == set()
    assert made["providerSpecificData"]["region"] == "eu"
    stored = await admin.core.stores.connections.get(made["id"])
    assert stored is not None
    assert stored.provider_data == {**HIDDEN_AWAY, "region": "eu"}


async def test_a_key_sees_no_password_of_a_proxy(admin: AdminGateway) -> None:
    made = await admin.connect(providerSpecificData=PROXIED)
    texts = ("word-0005", "word-0006")

    async with with_key(admin) as here:
        for path in ("", "/client", f"/{made['id']}"):
            shown = await here.client.get(f"/api/providers{path}")
            assert shown.status_code == 200
            assert "h.test" in shown.text
            assert find_texts(texts, shown.content) == set()
