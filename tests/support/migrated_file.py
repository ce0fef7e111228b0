"""A database that is up to date and empty, laid where a gateway of a test would begin its own.

Every start from nothing applies each migration in a transaction of its own, which is half of the
work of opening a gateway. That such a start works is tested by all that start a process, and in
``tests/gateway_core/storage``.
"""

import asyncio
import os
import tempfile
import threading
from functools import cache
from pathlib import Path

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import Environment
from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_core.storage.sqlite.engine import open_sqlite


def lay_database(environment: Environment) -> None:
    """Does nothing where there is a database already, of either engine."""
    file = DataDir(environment.data_path).database
    on_postgres = environment.pg_url or environment.database_engine == "postgres"
    if not on_postgres and not file.exists():
        content = _content()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
            new.write(content)


@cache
def _content() -> bytes:
    """What the file holds once every migration was applied to it."""

    async def make(file: Path) -> None:
        database = await open_sqlite(file)
        await migrate(database, packaged_migrations("sqlite"), lambda: 1_800_000_000.0)
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.sqlite"
        # The caller may be in an event loop.
        thread = threading.Thread(target=lambda: asyncio.run(make(file)))
        thread.start()
        thread.join()
        return file.read_bytes()
