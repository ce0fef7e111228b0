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
    choose_database,
    complete_url,
    legacy_url,
)
from ..config.environment import Environment
from ..config.errors import DatabaseUnusable, StartRefused
from ..config.settings import Settings
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
    data_dir: DataDir, environment: Environment, settings_on: SettingsOn, clock: Clock
) -> tuple[Storage, Selection]:
    """Open the database that is asked for. Raises a StartRefused."""
    choice = choose_database(data_dir, environment)
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


async def open_postgres_storage(url: str, data_dir: DataDir, clock: Clock) -> Storage:
    """Open a PostgreSQL database and bring it up to date. Raises a StartRefused."""
    # Imported where it is used: it takes time and memory that SQLite has no need of.
    from .postgres.engine import open_postgres

    try:
        database = await open_postgres(url)
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
