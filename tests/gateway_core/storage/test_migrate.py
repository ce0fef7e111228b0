import re
from collections.abc import AsyncIterator

import pytest

from gateway_core.config.errors import MigrationRefused
from gateway_core.storage.database import Database
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.migrate import (
    Migration,
    migrate,
    packaged_migrations,
    read_migrations,
)
from gateway_core.storage.sqlite.engine import open_sqlite

pytestmark = pytest.mark.anyio
FIRST = Migration(1, "first", "CREATE TABLE one (id BIGINT PRIMARY KEY);\n")
SECOND = Migration(2, "second", "INSERT INTO one VALUES (1);\nINSERT INTO one VALUES (2);\n")
PG_TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"


def noon() -> float:
    return 0.0


@pytest.fixture
async def empty() -> AsyncIterator[Database]:
    database = await open_sqlite(":memory:")
    yield database
    await database.close()


async def test_steps_are_applied_in_order_and_recorded(empty: Database) -> None:
    applied = await migrate(empty, [FIRST, SECOND], noon)

    rows = await empty.fetch("SELECT * FROM migrations ORDER BY number")
    assert applied == 2
    assert [(row["number"], row["name"]) for row in rows] == [(1, "first"), (2, "second")]
    assert rows[0]["checksum"] == FIRST.checksum
    assert rows[0]["applied_at"] == "1970-01-01T00:00:00.000Z"
    assert await empty.fetch("SELECT count(*) AS n FROM one") == [{"n": 2}]


async def test_migrating_again_changes_nothing(empty: Database) -> None:
    await migrate(empty, [FIRST, SECOND], noon)

    assert await migrate(empty, [FIRST, SECOND], noon) == 0
    assert await empty.fetch("SELECT count(*) AS n FROM one") == [{"n": 2}]


async def test_only_what_is_missing_is_applied(empty: Database) -> None:
    await migrate(empty, [FIRST], noon)

    assert await migrate(empty, [FIRST, SECOND], noon) == 1


async def test_a_step_that_fails_leaves_nothing_of_itself(empty: Database) -> None:
    broken = Migration(
        2, "broken", "CREATE TABLE two (id BIGINT);\nINSERT INTO one VALUES (5), (5);"
    )

    with pytest.raises(UniqueViolation):
        await migrate(empty, [FIRST, broken], noon)

    assert [row["name"] for row in await empty.fetch(TABLES)] == ["migrations", "one"]
    assert await empty.fetch("SELECT number FROM migrations") == [{"number": 1}]


async def test_a_step_that_was_changed_afterwards_is_refused(empty: Database) -> None:
    await migrate(empty, [FIRST], noon)
    changed = Migration(1, "first", FIRST.sql + "DROP TABLE one;")

    with pytest.raises(MigrationRefused, match="0001_first was changed after it was applied"):
        await migrate(empty, [changed, SECOND], noon)

    assert await empty.fetch("SELECT count(*) AS n FROM one") == [{"n": 0}]


async def test_a_tampered_record_is_refused(empty: Database) -> None:
    await migrate(empty, [FIRST, SECOND], noon)
    await empty.execute("UPDATE migrations SET checksum = 'x' WHERE number = 2")

    with pytest.raises(MigrationRefused, match="0002_second was changed"):
        await migrate(empty, [FIRST, SECOND], noon)


async def test_a_database_of_a_newer_version_is_refused(empty: Database) -> None:
    await migrate(empty, [FIRST, SECOND], noon)

    with pytest.raises(MigrationRefused, match="written by a newer version"):
        await migrate(empty, [FIRST], noon)


async def test_a_step_that_was_passed_over_is_refused(empty: Database) -> None:
    await migrate(empty, [SECOND_ALONE], noon)

    with pytest.raises(MigrationRefused, match="was never applied itself"):
        await migrate(empty, [FIRST, SECOND_ALONE], noon)


SECOND_ALONE = Migration(2, "alone", "CREATE TABLE two (id BIGINT);")


def test_line_ends_do_not_change_a_checksum() -> None:
    windows = Migration(1, "first", FIRST.sql.replace("\n", "\r\n"))

    assert windows.checksum == FIRST.checksum


def test_a_twin_replaces_the_common_step_on_its_engine() -> None:
    files = [("0001_a.sql", "common"), ("0001_a.postgres.sql", "twin"), ("notes.txt", "no")]

    assert [step.sql for step in read_migrations(files, "sqlite")] == ["common"]
    assert [step.sql for step in read_migrations(files, "postgres")] == ["twin"]


def test_two_steps_of_one_number_are_refused() -> None:
    with pytest.raises(MigrationRefused, match="the number 1"):
        read_migrations([("0001_a.sql", ""), ("0001_b.sql", "")], "sqlite")


def test_our_own_steps_are_numbered_without_gaps() -> None:
    # PostgreSQL has some that SQLite has not, and all that SQLite has.
    steps, fewer = packaged_migrations("postgres"), packaged_migrations("sqlite")

    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert {step.number for step in steps} - {step.number for step in fewer} == {31}
    assert {step.number for step in fewer} <= {step.number for step in steps}
    assert all(step.statements for step in (*steps, *fewer))


def test_our_own_steps_keep_to_the_shared_dialect() -> None:
    text = " ".join(step.sql for step in packaged_migrations("sqlite")).upper()

    for word in (
        "AUTOINCREMENT",
        "INTEGER",
        "STRICT",
        "WITHOUT ROWID",
        "BLOB",
        "DATETIME",
        "JSONB",
    ):
        assert not re.search(rf"\b{word}\b", text)


async def test_our_own_steps_make_every_table(database: Database) -> None:
    names = {
        row["name"]
        for row in await database.fetch(TABLES if database.engine == "sqlite" else PG_TABLES)
    }

    text = " ".join(s.sql for s in packaged_migrations("sqlite"))
    made, gone = (re.findall(rf"{verb} TABLE (\w+)", text) for verb in ("CREATE", "DROP"))
    assert names == {"migrations", *made} - set(gone)
