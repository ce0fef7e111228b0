"""Secrets at rest: none is readable in the data directory, none decrypts elsewhere (S31, S34)."""

import base64
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from audiences import by_key, by_session
from hoard import SETTINGS, every_byte, filled, found, hoarding, told
from hypothesis import given
from hypothesis import strategies as st
from office import KEY, Office, opened

from gateway_core.config.errors import SecretLost, WrongMasterKey
from gateway_core.storage.opening import SEALED

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with hoarding(tmp_path) as here:
        yield here


async def test_no_secret_of_any_kind_is_in_a_byte_of_the_data_directory(
    office: Office, tmp_path: Path
) -> None:
    texts = await filled(office)

    assert found(texts, every_byte(tmp_path)) == set()


def modes_of(root: Path) -> dict[str, int]:
    """The permissions of everything below a directory, and its own."""
    found = (root, *root.rglob("*"))
    return {str(each.relative_to(root)): stat.S_IMODE(each.stat().st_mode) for each in found}


async def test_every_file_is_private(office: Office, tmp_path: Path) -> None:
    await filled(office)
    await office.ask("POST", "/api/translator/save", {"file": "1_req_client.json", "content": "{}"})

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
        assert found((texts,), each) == {texts}


COLUMNS = {
    "connections": ("secrets", "/api/providers", "connection"),
    "proxy_pools": ("proxy_url", "/api/proxy-pools", "proxyPool"),
}


async def three(office: Office, table: str) -> list[str]:
    """The ids of three rows with a secret each."""
    _, path, member = COLUMNS[table]
    ids = []
    for number in range(3):
        body: dict[str, Any] = {"provider": "acme", "name": f"n{number}", "apiKey": KEY}
        if table == "proxy_pools":
            body = {"name": f"n{number}", "proxyUrl": f"http://me:word-{number}@127.0.0.1:9"}
        ids.append((await office.ask("POST", path, body, status=201))[member]["id"])
    return ids


async def sealed(office: Office, table: str, column: str) -> dict[str, str]:
    rows = await office.core.stores.database.fetch(f"SELECT id, {column} AS it FROM {table}")
    return {row["id"]: row["it"] for row in rows}


async def put(office: Office, table: str, column: str, texts: dict[str, str]) -> None:
    """Write to the database file directly, without the store."""
    for identity, text in texts.items():
        await office.core.stores.database.execute(
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
    office: Office, table: str, manner: str
) -> None:
    column, path, member = COLUMNS[table]
    ids = await three(office, table)
    bad = damaged(ids, await sealed(office, table, column), manner)
    await put(office, table, column, bad)
    await office.core.refresh()

    for identity in ids:
        row = (await office.ask("GET", f"{path}/{identity}"))[member]
        assert (row["testStatus"] == "error") is (identity in bad)
        assert "word-" not in str(row) or identity not in bad
        if "lastError" in row and identity in bad:
            assert "cannot be opened" in row["lastError"]
    await office.client.put(f"{path}/{ids[0]}", json={"name": "renamed"})
    await office.ask("PUT", f"{path}/{ids[2]}", {"name": "also renamed"})
    after = await sealed(office, table, column)
    assert {identity: after[identity] for identity in bad} == bad
    await office.ask("DELETE", f"{path}/{ids[0]}")


async def test_a_call_uses_the_account_whose_secret_can_be_decrypted(office: Office) -> None:
    ids = await three(office, "connections")
    texts = await sealed(office, "connections", "secrets")
    await put(office, "connections", "secrets", damaged(ids, texts, "swapped"))
    await office.ask("PATCH", "/api/settings", {"cavemanEnabled": False})
    await office.ask("PUT", f"/api/providers/{ids[2]}", {"name": "the good one"})

    answer = await office.chat("acme/large")

    assert answer.status_code == 200
    assert [asked.headers["authorization"] for asked in office.vendor.asked] == [f"Bearer {KEY}"]


async def test_a_key_whose_text_was_moved_is_not_revealed_and_still_works(office: Office) -> None:
    one, two = await told(office, "one"), await told(office, "two")
    texts = await sealed(office, "api_keys", "secret")
    ids = list(texts)
    moved = {ids[0]: texts[ids[1]], ids[1]: flipped(texts[ids[1]])}
    await put(office, "api_keys", "secret", moved)

    async with by_session(office) as here:
        for identity in ids:
            answer = await here.client.get(f"/api/keys/{identity}/reveal")
            assert answer.status_code >= 400
            assert "key" not in answer.json()
            assert one not in answer.text
            assert two not in answer.text

    assert await sealed(office, "api_keys", "secret") == moved
    assert (await office.chat("acme/large", authorization=f"Bearer {one}")).status_code != 401


async def test_a_damaged_setting_affects_no_other(office: Office) -> None:
    await office.ask("PATCH", "/api/settings", SETTINGS)
    database = office.core.stores.database
    before = (await database.fetch("SELECT secrets FROM settings"))[0]["secrets"]
    texts = msgspec.json.decode(before)
    texts["oidcClientSecret"] = texts["outboundProxyUrl"]
    after = msgspec.json.encode(texts).decode()
    await database.execute("UPDATE settings SET secrets = :text", text=after)

    shown = await office.ask("GET", "/api/settings")
    await office.ask("PATCH", "/api/settings", {"comboStrategy": "round-robin"})

    assert shown["outboundProxyUrl"] == SETTINGS["outboundProxyUrl"]
    assert shown["oidcConfigured"] is False
    now = msgspec.json.decode((await database.fetch("SELECT secrets FROM settings"))[0]["secrets"])
    assert now["oidcClientSecret"] == texts["oidcClientSecret"]


async def test_without_its_master_key_a_gateway_does_not_start_or_create_another(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, {}) as office:
        await office.connect()
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
    async with opened(tmp_path, {}) as office:
        office.vendor.key = None
        assert (await office.ask("GET", "/api/providers"))["connections"][0]["name"] == "main"


async def test_every_encrypted_column_is_known(office: Office) -> None:
    await filled(office)
    database, holds = office.core.stores.database, set()
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


async def test_a_secret_in_a_list_is_encrypted_and_masked(office: Office, tmp_path: Path) -> None:
    made = await office.connect(providerSpecificData={**HIDDEN_AWAY, "region": "eu"})
    texts = tuple(f"in-a-list-000{number}" for number in range(1, 5))

    shown = await office.client.get(f"/api/providers/{made['id']}")

    assert found(texts, every_byte(tmp_path)) == set()
    assert found(texts[:3], shown.content) == set()
    assert made["providerSpecificData"]["region"] == "eu"
    stored = await office.core.stores.connections.get(made["id"])
    assert stored is not None
    assert stored.provider_data == {**HIDDEN_AWAY, "region": "eu"}


async def test_a_key_sees_no_password_of_a_proxy(office: Office) -> None:
    made = await office.connect(providerSpecificData=PROXIED)
    texts = ("word-0005", "word-0006")

    async with by_key(office) as here:
        for path in ("", "/client", f"/{made['id']}"):
            shown = await here.client.get(f"/api/providers{path}")
            assert shown.status_code == 200
            assert "h.test" in shown.text
            assert found(texts, shown.content) == set()
