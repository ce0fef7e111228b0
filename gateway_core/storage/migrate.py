"""Brings a database up to date: numbered SQL files, each applied once, in order, whole.

A step is ``migrations/NNNN_noun.sql``; one that must differ for PostgreSQL has
a twin ``NNNN_noun.postgres.sql``. What was applied is recorded with its
checksum, so a step that was changed afterwards, or a database written by a
newer version, is refused instead of guessed at.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Literal

from msgspec import Struct

from ..config.errors import MigrationRefused
from .database import Database, Queries, Row, Statements
from .moments import Clock, iso

_NAME = re.compile(r"(\d{4})_(\w+?)(\.postgres)?\.sql")
_CREATE = """
    CREATE TABLE IF NOT EXISTS migrations (
        number BIGINT PRIMARY KEY,
        name TEXT NOT NULL,
        checksum TEXT NOT NULL,
        applied_at TEXT NOT NULL
    )
"""
_RECORD = """
    INSERT INTO migrations (number, name, checksum, applied_at)
    VALUES (:number, :name, :checksum, :applied_at)
"""


class Migration(Struct, frozen=True):
    """One step."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        # A checkout may have other line ends than the one that applied the step.
        text = "\n".join(self.sql.splitlines())
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def statements(self) -> tuple[str, ...]:
        parts = re.split(r";[ \t]*(?:\n|$)", self.sql)
        return tuple(part.strip() for part in parts if part.strip())


def packaged_migrations(engine: Literal["sqlite", "postgres"]) -> tuple[Migration, ...]:
    """The steps this version has, in order."""
    folder = resources.files("gateway_core.storage").joinpath("migrations")
    files = ((file.name, file.read_text(encoding="utf-8")) for file in folder.iterdir())
    return read_migrations(files, engine)


def read_migrations(
    files: Iterable[tuple[str, str]], engine: Literal["sqlite", "postgres"]
) -> tuple[Migration, ...]:
    """Steps from file names and texts; a twin replaces the common one on its engine."""
    matches = [(match, sql) for file, sql in files if (match := _NAME.fullmatch(file))]
    steps: dict[int, Migration] = {}
    for match, sql in sorted(matches, key=lambda pair: bool(pair[0][3])):
        number, name, twin = int(match[1]), match[2], match[3]
        if number in steps and steps[number].name != name:
            raise MigrationRefused(f"Two migrations have the number {number}.")
        if not twin or engine == "postgres":
            steps[number] = Migration(number, name, sql)
    return tuple(steps[number] for number in sorted(steps))


async def migrate(database: Database, migrations: Sequence[Migration], clock: Clock) -> int:
    """Apply what is missing; gives how many steps that were. Raises MigrationRefused."""
    await database.execute(_CREATE)
    steps = 0
    while await missing_steps(database, migrations):
        async with database.transaction() as transaction:
            # Looked up again in each: another gateway on the database may be at it too.
            if missing := await missing_steps(transaction, migrations):
                await apply_step(transaction, missing[0], clock)
                steps += 1
    return steps


async def apply_step(transaction: Statements, step: Migration, clock: Clock) -> None:
    """Apply one step, and record it."""
    for statement in step.statements:
        await transaction.execute(statement)
    await transaction.execute(
        _RECORD,
        number=step.number,
        name=step.name,
        checksum=step.checksum,
        applied_at=iso(clock()),
    )


async def missing_steps(database: Queries, migrations: Sequence[Migration]) -> Sequence[Migration]:
    """The steps that were not applied yet. Raises MigrationRefused."""
    applied = await database.fetch("SELECT number, name, checksum FROM migrations ORDER BY number")
    _compare(applied, migrations)
    return migrations[len(applied) :]


def _compare(applied: Sequence[Row], migrations: Sequence[Migration]) -> None:
    """What was applied must be the beginning of what this version has."""
    for place, row in enumerate(applied):
        known = migrations[place] if place < len(migrations) else None
        if known is None or known.number > row["number"]:
            raise MigrationRefused(
                f"The database holds the migration {row['number']:04}_{row['name']}, which this "
                "version does not know. It was written by a newer version; run that one."
            )
        if known.number < row["number"]:
            raise MigrationRefused(
                f"The migration {known.number:04}_{known.name} comes before one that is applied "
                "already, but was never applied itself."
            )
        if known.checksum != row["checksum"]:
            raise MigrationRefused(
                f"The migration {known.number:04}_{known.name} was changed after it was applied."
            )
