import os
import stat
from pathlib import Path

import pytest
from example_table import INSERT

from gateway_core.config.data_dir import DataDir
from gateway_core.config.errors import (
    DatabaseUnusable,
    MigrationRefused,
    SecretLost,
    WrongMasterKey,
)
from gateway_core.storage.opening import refusing
from gateway_core.storage.sqlite.engine import SqliteDatabase
from gateway_core.storage.stores import Stores, open_stores
from gateway_core.storage.stores.connection import NewConnection
from gateway_core.storage.stores.usage import UsageFilter, UsageRecord

pytestmark = pytest.mark.anyio


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path / "data")


async def begin(data_dir: DataDir, *, with_secret: bool) -> None:
    stores = await open_stores(data_dir)
    data = {"apiKey": "canary"} if with_secret else {}
    await stores.connections.create(NewConnection(provider="acme", name="a", data=data))
    await stores.close()


async def test_what_was_stored_is_there_after_a_restart(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)

    stores = await open_stores(data_dir)
    found = await stores.connections.list()
    await stores.close()

    assert [one.secrets for one in found] == [{"apiKey": "canary"}]


async def test_the_database_is_private_while_it_is_open(data_dir: DataDir) -> None:
    before = os.umask(0)
    try:
        stores = await open_stores(data_dir)
        await stores.settings.patch({"a": 1})
        files = [path for path in data_dir.path.rglob("*") if path.is_file()]
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
        await stores.close()
    finally:
        os.umask(before)

    assert modes.keys() >= {"data.sqlite", "data.sqlite-wal", "data.sqlite-shm"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("state", ["missing", "empty"])
async def test_a_lost_database_is_not_replaced(data_dir: DataDir, state: str) -> None:
    await begin(data_dir, with_secret=True)
    data_dir.database.unlink()
    if state == "empty":
        data_dir.database.touch()

    with pytest.raises(DatabaseUnusable, match="is missing or empty"):
        await open_stores(data_dir)

    assert not data_dir.database.exists() or data_dir.database.stat().st_size == 0


async def test_a_damaged_database_is_left_as_it_was(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)
    data_dir.database.write_bytes(b"rubbish" * 1000)

    with pytest.raises(DatabaseUnusable, match="is damaged"):
        await open_stores(data_dir)

    assert data_dir.database.read_bytes() == b"rubbish" * 1000


async def test_a_missing_master_key_is_not_minted_while_secrets_are_sealed(
    data_dir: DataDir,
) -> None:
    await begin(data_dir, with_secret=True)
    (data_dir.path / "master-key").unlink()

    with pytest.raises(SecretLost, match="master-key is missing"):
        await open_stores(data_dir)

    assert not (data_dir.path / "master-key").exists()


async def test_another_master_key_stops_the_start(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)
    (data_dir.path / "master-key").write_text("00" * 32)

    with pytest.raises(WrongMasterKey, match="is not the key"):
        await open_stores(data_dir)


@pytest.mark.parametrize("state", ["missing", "another"])
async def test_a_master_key_may_change_while_nothing_is_sealed(
    data_dir: DataDir, state: str
) -> None:
    await begin(data_dir, with_secret=False)
    (data_dir.path / "master-key").unlink()
    if state == "another":
        data_dir.write("master-key", b"11" * 32)

    await begin_again_and_seal(data_dir)

    await (await open_stores(data_dir)).close()


async def test_the_proof_of_an_earlier_version_is_taken_and_signed(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)
    stores = await open_stores(data_dir)
    before = await signature(stores)
    await stores.database.execute("DELETE FROM meta WHERE key = 'master_key_proof.signature'")
    await stores.close()

    stores = await open_stores(data_dir)
    after = await signature(stores)
    await stores.close()

    assert len(before) == 64
    assert after == before


async def test_a_signature_of_another_proof_says_nothing(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)
    stores = await open_stores(data_dir)
    await stores.database.execute(
        "UPDATE meta SET value = 'v1.other' WHERE key = 'master_key_proof'"
    )
    await stores.close()

    with pytest.raises(WrongMasterKey):
        await open_stores(data_dir)


async def signature(stores: Stores) -> str:
    rows = await stores.database.fetch(
        "SELECT value FROM meta WHERE key = 'master_key_proof.signature'"
    )
    return str(rows[0]["value"]) if rows else ""


async def begin_again_and_seal(data_dir: DataDir) -> None:
    stores = await open_stores(data_dir)
    await stores.settings.patch({"mfaSecret": "canary"})
    await stores.close()


async def test_a_database_of_a_newer_version_is_left_alone(data_dir: DataDir) -> None:
    stores = await open_stores(data_dir)
    await stores.database.execute("INSERT INTO migrations VALUES (9999, 'future', 'x', 'x')")
    await stores.close()

    with pytest.raises(MigrationRefused, match="9999_future"):
        await open_stores(data_dir)


async def test_a_failed_start_lets_go_of_the_database(data_dir: DataDir) -> None:
    await begin(data_dir, with_secret=True)
    key = data_dir.read("master-key")
    (data_dir.path / "master-key").unlink()
    with pytest.raises(SecretLost):
        await open_stores(data_dir)

    data_dir.write("master-key", key or b"")
    await begin_again_and_seal(data_dir)


async def test_no_secret_is_in_any_byte_of_the_data_directory(data_dir: DataDir) -> None:
    stores = await open_stores(data_dir)
    data = {
        "apiKey": "canary-1",
        "refreshToken": "canary-2",
        "firecrawlHeaders": {"Authorization": "canary-3"},
        "providerSpecificData": {
            "cookie": "canary-4",
            "sessionToken": "canary-5",
            "connectionProxyUrl": "http://me:canary-6@proxy",
        },
    }
    made = await stores.connections.create(NewConnection(provider="acme", name="a", data=data))
    await stores.settings.patch({"postgresUrl": "canary-7", "outboundProxyUrl": "canary-8"})
    await stores.connections.note({made.id: {"testStatus": "error"}})

    while_open = every_byte(data_dir.path)
    await stores.connections.delete(made.id)
    await stores.close()

    assert b"acme" in while_open
    assert b"canary" not in while_open
    assert b"canary" not in every_byte(data_dir.path)


async def test_deleted_usage_is_overwritten(data_dir: DataDir) -> None:
    moment = "2027-01-15T08:00:00.000Z"
    record = UsageRecord(
        request_id="canary-request",
        started_at=moment,
        finished_at=moment,
        model_asked="m",
        endpoint="/",
    )
    stores = await open_stores(data_dir)
    await stores.usage.insert_many([record] * 100)
    before = every_byte(data_dir.path)

    await stores.usage.delete(UsageFilter())

    after = every_byte(data_dir.path)
    await stores.close()
    assert b"canary-request" in before
    assert b"canary-request" not in after


def every_byte(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


async def test_a_disk_that_is_full_keeps_a_gateway_from_starting(filed: SqliteDatabase) -> None:
    await filed.execute(INSERT, id=1, name="")
    await filed.execute("PRAGMA max_page_count = 4")

    with (
        pytest.raises(DatabaseUnusable, match=r"its disk is full.* Make room there"),
        refusing(Path("data.sqlite")),
    ):
        await filed.execute(INSERT, id=2, name="x" * 100_000)
