"""``model-gateway upgrade --plan``: what the next start would do, tried on a copy."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from click.testing import CliRunner, Result
from gateway_process import running

from gateway_cli.main import cli
from gateway_core.config.data_dir import DataDir
from gateway_core.storage.database import Database
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.opening import open_storage
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.stores.settings import SettingsStore
from gateway_postgres.engine import open_postgres

MISSING = 4
"""How many steps the older version did not have."""
NEWEST = [f"{each.number:04}_{each.name}" for each in packaged_migrations("sqlite")[-MISSING:]]
ROW = "INSERT INTO meta (key, value) VALUES (:key, :value)"


async def fill(database: Database) -> None:
    """Make a database as an older version left it."""
    try:
        await migrate(database, packaged_migrations(database.engine)[:-MISSING], time.time)
        await database.execute_many(ROW, [{"key": f"k{n}", "value": "v"} for n in range(7)])
    finally:
        await database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory of an older version."""
    data_dir = DataDir(tmp_path / "data")
    data_dir.touch_database()

    async def make() -> None:
        await fill(await open_sqlite(data_dir.database))

    asyncio.run(make())
    data_dir.master_key(mint=True)
    data_dir.mark_started()
    return data_dir.path


def plan(folder: Path, *more: str, **variables: str) -> Result:
    environment = {"DATA_DIR": str(folder), "PORT": "0", **variables}
    return CliRunner().invoke(cli, ["upgrade", "--plan", *more], env=environment)


def state_of(folder: Path) -> Mapping[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_missing_steps_are_tried_and_nothing_is_changed(folder: Path) -> None:
    before = state_of(folder)
    done = plan(folder)

    assert done.exit_code == 0, done.output
    assert all(name in done.output for name in NEWEST)
    assert "7 rows" in done.output
    assert "Nothing was changed." in done.output
    assert state_of(folder) == before


def test_the_next_start_does_what_was_planned(folder: Path) -> None:
    (planned,) = json.loads(plan(folder, "--json").output)["databases"]
    with running(folder) as gateway:
        (afterwards,) = json.loads(plan(folder, "--json").output)["databases"]
        assert httpx2.get(f"{gateway.url}/api/health", trust_env=False).status_code == 200

    assert [each["step"] for each in planned["steps"]] == NEWEST
    assert (planned["problem"], planned["changes"]) == (None, [])
    assert (afterwards["steps"], afterwards["problem"]) == ([], None)


def test_a_step_that_fails_is_named(folder: Path) -> None:
    async def spoil() -> None:
        database = await open_sqlite(folder / "db" / "data.sqlite")
        # A step makes a table of this name.
        await database.execute("CREATE TABLE files (x TEXT)")
        await database.close()

    asyncio.run(spoil())
    done = plan(folder)

    assert done.exit_code == 1
    assert "would not start" in done.output
    assert "The step 0032_files fails: " in done.output
    assert "already exists" in done.output


def test_a_database_of_a_newer_version_is_refused(folder: Path) -> None:
    async def age() -> None:
        database = await open_sqlite(folder / "db" / "data.sqlite")
        await migrate(database, packaged_migrations("sqlite"), time.time)
        await database.execute(
            "INSERT INTO migrations (number, name, checksum, applied_at) "
            "VALUES (9999, 'future', '', '')"
        )
        await database.close()

    asyncio.run(age())
    done = plan(folder)

    assert done.exit_code == 1
    assert "9999_future" in done.output
    assert "newer version" in done.output


def test_rows_that_a_step_takes_away_are_told(folder: Path, monkeypatch: Any) -> None:
    from gateway_cli import upgrade_plan

    shortened = packaged_migrations("sqlite")
    thief = type(shortened[-1])(9000, "thief", "DELETE FROM meta;\n")
    monkeypatch.setattr(upgrade_plan, "packaged_migrations", lambda _: (*shortened, thief))
    done = plan(folder)

    assert "meta: 7 rows before, 0 after" in done.output


def test_without_a_database_there_is_nothing_to_upgrade(tmp_path: Path) -> None:
    done = plan(tmp_path / "nowhere")

    assert "There is no database yet" in done.output
    assert not (tmp_path / "nowhere").exists()


def test_without_the_word_plan_it_says_what_it_is_for(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["upgrade"], env={"DATA_DIR": str(folder)})

    assert done.exit_code == 2
    assert "--plan" in done.output


def relations(url: str) -> list[Any]:
    """Every table of every schema, with its rows."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        ).fetchall()
        return [
            (
                *table,
                connection.execute(f'SELECT count(*) FROM "{table[0]}"."{table[1]}"').fetchone(),
            )  # type: ignore[arg-type]
            for table in tables
        ]


@pytest.mark.parametrize("stored", [False, True], ids=["a-variable", "the-settings"])
def test_postgres_is_copied_into_a_transaction_of_which_nothing_stays(
    stored: bool, tmp_path: Path, postgres: Callable[[str, str], str]
) -> None:
    url = postgres("postgres-18", f"upgrade_{stored}".lower())
    separator = "&" if "?" in url else "?"
    url += f"{separator}sslmode=disable"
    data_dir = DataDir(tmp_path / "data")

    async def make() -> None:
        await fill(await open_postgres(url))
        if stored:
            storage = await open_storage(data_dir)
            settings = SettingsStore(storage.database, storage.vault)
            await settings.patch({"databaseEngine": "postgres", "postgresUrl": url})
            await storage.database.close()

    anyio.run(make)
    before = relations(url)
    done = plan(data_dir.path, "--json", **({} if stored else {"GATEWAY_PG_URL": url}))

    assert done.exit_code in (0, 1), done.output
    rehearsal = json.loads(done.output)["databases"][-1]
    assert rehearsal["engine"] == "postgres"
    assert [each["step"] for each in rehearsal["steps"]] == NEWEST
    assert (rehearsal["rows"], rehearsal["problem"], rehearsal["changes"]) == (7, None, [])
    assert relations(url) == before
