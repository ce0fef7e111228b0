"""What an upgrade does to the database, seen on a copy: each missing step, its time, the rows."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import distribution
from pathlib import Path
from typing import Literal

import click
import msgspec
from msgspec import Struct

from gateway_core.config.data_dir import DataDir
from gateway_core.config.database_choice import choose_database, complete_url, legacy_url
from gateway_core.config.environment import Environment
from gateway_core.config.errors import DatabaseUnusable, StartRefused
from gateway_core.storage.database import Database, Queries, Statements
from gateway_core.storage.engines import GROUP
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.migrate import apply_step, missing_steps, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite
from gateway_core.storage.sqlite.integrity import connect_at_rest, connect_reading, inspect
from gateway_core.storage.stores.settings import SettingsStore
from gateway_core.storage.vault import Vault

from .doctor import Finding
from .options import print_table

Engine = Literal["sqlite", "postgres"]
CopyOf = Callable[[str], AbstractAsyncContextManager[Statements]]
_TABLES: Mapping[Engine, str] = {
    "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table' "
    "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name <> 'migrations' ORDER BY name",
    "postgres": "SELECT table_name AS name FROM information_schema.tables "
    "WHERE table_schema = current_schema() AND table_name <> 'migrations' ORDER BY name",
}


class Step(Struct, frozen=True):
    """A missing step as it went on the copy."""

    step: str
    milliseconds: int


class Rehearsal(Struct, rename="camel"):
    """How the upgrade of a database went on its copy."""

    engine: Engine
    copy_milliseconds: int = 0
    steps: list[Step] = []
    rows: int = 0
    """Of all tables, before."""
    changes: list[str] = []
    """Tables with another number of rows afterwards."""
    problem: str | None = None
    """Why this version would not start with the database."""


async def rehearse(environment: Environment) -> list[Rehearsal]:
    """Upgrade a copy of every database that the next start would upgrade; none where there is none.

    A gateway that runs goes on meanwhile. Raises a StartRefused for what cannot be looked at.
    """
    data_dir = DataDir(environment.data_path, look_only=True)
    choice = choose_database(data_dir, environment)
    url, engine, rehearsals = choice.url, choice.engine, list[Rehearsal]()
    if data_dir.database.exists() and data_dir.database.stat().st_size:
        with tempfile.TemporaryDirectory(prefix="upgrade-", dir=data_dir.path) as folder:
            copy = Path(folder) / "copy.sqlite"
            rehearsal = await _upgrade_sqlite(data_dir, copy)
            rehearsals.append(rehearsal)
            if rehearsal.problem is None and engine != "sqlite" and not url:
                engine, url = await _stored_choice(copy, data_dir)
    if choice.engine == "postgres" or engine == "postgres":
        url = url or legacy_url(data_dir)
        if not url:
            raise DatabaseUnusable("PostgreSQL is selected, but nothing says where it is.")
        rehearsals.append(await _upgrade_postgres(complete_url(url, choice.sslmode)))
    return rehearsals


async def _upgrade_sqlite(data_dir: DataDir, copy: Path) -> Rehearsal:
    rehearsal = Rehearsal("sqlite")
    try:
        begun = time.monotonic()
        await asyncio.to_thread(_copy_file, data_dir, copy)
        rehearsal.copy_milliseconds = _since(begun)
        async with _opened(copy) as database, database.transaction() as transaction:
            await _upgrade(rehearsal, transaction)
        inspect(copy, expected=True)
    except (StartRefused, StorageUnavailable) as error:
        rehearsal.problem = _words(error)
    return rehearsal


async def _upgrade_postgres(url: str) -> Rehearsal:
    rehearsal = Rehearsal("postgres")
    (entry,) = distribution("model-gateway").entry_points.select(group=GROUP, name="postgres-copy")
    copy_of: CopyOf = entry.load()
    try:
        begun = time.monotonic()
        async with copy_of(url) as transaction:
            rehearsal.copy_milliseconds = _since(begun)
            await _upgrade(rehearsal, transaction)
    except (StartRefused, StorageUnavailable) as error:
        rehearsal.problem = _words(error)
    return rehearsal


async def _upgrade(rehearsal: Rehearsal, transaction: Statements) -> None:
    """Apply what is missing; what a step fails on becomes the rehearsal's problem."""
    before = await _count_rows(transaction, rehearsal.engine)
    rehearsal.rows = sum(before.values())
    migrations = packaged_migrations(rehearsal.engine)
    for step in await missing_steps(transaction, migrations):
        name, begun = f"{step.number:04}_{step.name}", time.monotonic()
        try:
            await apply_step(transaction, step, time.time)
        except Exception as error:
            rehearsal.problem = f"The step {name} fails: {_words(error)}"
            return
        rehearsal.steps.append(Step(name, _since(begun)))
    after = await _count_rows(transaction, rehearsal.engine)
    rehearsal.changes = [
        f"{table}: {rows} rows before, {after[table]} after" if table in after else f"{table}: gone"
        for table, rows in before.items()
        if after.get(table) != rows
    ]


async def _count_rows(database: Queries, engine: Engine) -> dict[str, int]:
    counts = {}
    for row in await database.fetch(_TABLES[engine]):
        name = row["name"]
        (counted,) = await database.fetch(f'SELECT count(*) AS rows FROM "{name}"')
        counts[name] = counted["rows"]
    return counts


async def _stored_choice(copy: Path, data_dir: DataDir) -> tuple[Engine, str]:
    """Which engine the stored settings select, and where it is."""
    async with _opened(copy) as database:
        vault = Vault(data_dir.master_key(mint=False))
        settings = await SettingsStore(database, vault).read()
    return settings.database_engine, settings.postgres_url


@asynccontextmanager
async def _opened(file: Path) -> AsyncIterator[Database]:
    database = await open_sqlite(file, expected=True)
    try:
        yield database
    finally:
        await database.close()


def _copy_file(data_dir: DataDir, copy: Path) -> None:
    """Copy one state of a database that a gateway may be writing."""
    connect = connect_at_rest if data_dir.holder() is None else connect_reading
    connection = connect(data_dir.database)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),))
    finally:
        connection.close()


def _since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)


def _words(error: BaseException) -> str:
    return str(error) or str(error.__cause__ or type(error).__name__)


def show(rehearsals: Sequence[Rehearsal], findings: Sequence[Finding], as_json: bool) -> None:
    """Print how it went, with what else keeps this version from starting."""
    if as_json:
        document = {"databases": rehearsals, "findings": findings}
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2))
        return
    if not rehearsals:
        click.echo("There is no database yet; the first start makes it.")
    for rehearsal in rehearsals:
        _show_one(rehearsal)
    for finding in findings:
        click.echo(f"{finding['check']}: {finding['detail']}")
    click.echo("Nothing was changed.")


def _show_one(rehearsal: Rehearsal) -> None:
    seconds = rehearsal.copy_milliseconds / 1000
    click.echo(f"{rehearsal.engine}: {rehearsal.rows} rows, copied in {seconds:.1f} s")
    if rehearsal.steps:
        print_table(
            ("step", "milliseconds"), [msgspec.structs.asdict(each) for each in rehearsal.steps]
        )
    for change in rehearsal.changes:
        click.echo(change)
    if rehearsal.problem:
        click.echo(f"This version would not start with it. {rehearsal.problem}")
    elif rehearsal.steps:
        click.echo("Every step succeeds; the next start does the same with the database itself.")
    else:
        click.echo("It is up to date; no step is missing.")
