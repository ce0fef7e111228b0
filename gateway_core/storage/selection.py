"""From what is asked for to the database that is served: SQLite, or PostgreSQL.

```text
a URL or the engine postgres is asked for ──▶ PostgreSQL, or no start at all
the stored settings say postgres ───────────▶ PostgreSQL, or SQLite in its place
else ───────────────────────────────────────▶ SQLite
```
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..config.data_dir import DataDir
from ..config.database_choice import (
    ENGINE,
    URL,
    DatabaseChoice,
    complete_url,
    legacy_url,
)
from ..config.errors import DatabaseUnusable, StartRefused
from ..config.settings import Settings
from .agreement import Served
from .engines import load_engine
from .errors import StorageFull, StorageUnavailable
from .moments import Clock
from .opening import Storage, open_storage, prepare
from .switchable import Selection


class SettingsReader(Protocol):
    """What is used of the store of settings."""

    async def read(self) -> Settings: ...
    async def patch(self, changes: Mapping[str, Any], /) -> Settings: ...


SettingsOn = Callable[[Storage], SettingsReader]

log = logging.getLogger(__name__)


async def open_selected(
    data_dir: DataDir, choice: DatabaseChoice, settings_on: SettingsOn, clock: Clock
) -> tuple[Storage, Selection]:
    """Open the database that is asked for. Raises a StartRefused."""
    if choice.engine == "postgres":
        url = choice.url
        if not url and data_dir.database.exists() and data_dir.database.stat().st_size:
            storage = await open_storage(data_dir, clock=clock)
            try:
                url = (await settings_on(storage).read()).postgres_url
            finally:
                await storage.database.close()
        url = _complete(url or legacy_url(data_dir), choice)
        return await open_postgres_storage(url, data_dir, clock), Selection(url=url, is_fixed=True)
    storage = await open_storage(data_dir, clock=clock)
    if choice.engine == "sqlite":
        return storage, Selection(is_fixed=True)
    try:
        settings = await settings_on(storage).read()
        if settings.database_engine != "postgres":
            return storage, Selection()
        try:
            url = _complete(settings.postgres_url or legacy_url(data_dir), choice)
            chosen = await open_postgres_storage(url, data_dir, clock)
        except StartRefused as error:
            log.error("%s SQLite serves in its place.", error)
            await settings_on(storage).patch({"databaseEngineError": str(error)})
            return storage, Selection(is_fallback=True, error=str(error))
    except BaseException:
        await storage.database.close()
        raise
    await storage.database.close()
    return chosen, Selection(url=url)


async def open_agreed(
    served: Served,
    data_dir: DataDir,
    choice: DatabaseChoice,
    settings_on: SettingsOn,
    clock: Clock,
) -> tuple[Storage, Selection, int]:
    """Open what other processes on the data directory serve, and give the switch that led to it.

    Raises a StartRefused: nothing else will do.
    """
    storage = await open_storage(data_dir, clock=clock)
    try:
        settings = await settings_on(storage).read()
        engine, switch = served.engine, served.switch
        if was_changed(served, settings):
            engine, switch = settings.database_engine, switch + 1
        if engine == "sqlite":
            is_fallback = settings.database_engine == "postgres"
            error = settings.database_engine_error if is_fallback else None
            return storage, Selection(is_fallback=is_fallback, error=error), switch
        url = _complete(settings.postgres_url or legacy_url(data_dir), choice)
        chosen = await open_postgres_storage(url, data_dir, clock)
    except BaseException:
        await storage.database.close()
        raise
    await storage.database.close()
    return chosen, Selection(url=url), switch


def was_changed(served: Served, settings: Settings) -> bool:
    """Whether a change that did not say so was done, by the settings of SQLite."""
    if served.change is None or settings.database_engine == served.engine:
        return False
    # Where SQLite serves as a fallback, its settings name PostgreSQL from the beginning.
    return served.engine == "postgres" or settings.database_cutover_at == served.change


async def open_postgres_storage(url: str, data_dir: DataDir, clock: Clock) -> Storage:
    """Open a PostgreSQL database and bring it up to date. Raises a StartRefused."""
    open_postgres = load_engine("postgres")
    try:
        database = await open_postgres(url, data_dir.gateway_name())
        return Storage(database, await prepare(database, data_dir, clock))
    except (StorageFull, StorageUnavailable) as error:
        raise DatabaseUnusable(
            f"The PostgreSQL database cannot be used: {error.__cause__ or error}"
        ) from error


def _complete(url: str, choice: DatabaseChoice) -> str:
    if not url:
        raise DatabaseUnusable(
            f"PostgreSQL is selected, but nothing says where it is. Set {URL}, "
            f"or {ENGINE}=sqlite to use SQLite."
        )
    return complete_url(url, choice.sslmode)
