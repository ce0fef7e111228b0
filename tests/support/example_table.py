"""A database with one table, ``things``."""

from pathlib import Path

from gateway_core.storage.database import Database
from gateway_core.storage.sqlite.engine import SqliteDatabase, open_sqlite

CREATE = "CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT)"
INSERT = "INSERT INTO things (id, name) VALUES (:id, :name)"


async def open_database(path: Path | str) -> SqliteDatabase:
    database = await open_sqlite(path)
    await database.execute(CREATE)
    return database


async def ids(database: Database) -> list[int]:
    return [row["id"] for row in await database.fetch("SELECT id FROM things ORDER BY id")]
