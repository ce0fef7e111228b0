"""The store of small documents by scope and key: aliases, custom models, prices."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..database import Database, Statements
from .versions import raise_version

ALIASES = "aliases"
CUSTOM_MODELS = "custom_models"
DISABLED_MODELS = "disabled_models"
ENABLED_MODELS = "enabled_models"
PRICING = "pricing"
_PUT = """
    INSERT INTO kv (scope, key, value) VALUES (:scope, :key, :value)
    ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value
"""


def group(scope: str) -> str:
    """The version group of a scope."""
    return f"kv.{scope}"


class KeyValueStore:
    """JSON values by scope and key. Each scope counts its writes by itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, scope: str) -> Mapping[str, Any]:
        """Every value of a scope, by key."""
        rows = await self._database.fetch(
            "SELECT key, value FROM kv WHERE scope = :scope ORDER BY key", scope=scope
        )
        return {row["key"]: msgspec.json.decode(row["value"]) for row in rows}

    async def get(self, scope: str, key: str) -> Any:
        """A value, or ``None`` when there is none."""
        return await _get(self._database, scope, key)

    async def put(self, scope: str, values: Mapping[str, Any]) -> None:
        """Set values, together; the scope's other keys stay."""
        async with self._database.transaction() as transaction:
            await _put(transaction, scope, values)
            await raise_version(transaction, group(scope))

    async def amend(self, scope: str, key: str, change: Callable[[Any], Any]) -> None:
        """Set a value to what ``change`` makes of it (``None``: there is none); nothing is written
        between the two, by another process either."""
        async with self._database.transaction() as transaction:
            before = await _get(transaction, scope, key)
            after = change(before)
            if after != before:
                await _put(transaction, scope, {key: after})
                await raise_version(transaction, group(scope))

    async def replace(self, scope: str, values: Mapping[str, Any]) -> None:
        """Make these the scope's only values."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM kv WHERE scope = :scope", scope=scope)
            await _put(transaction, scope, values)
            await raise_version(transaction, group(scope))

    async def delete(self, scope: str, key: str) -> bool:
        """Remove a value; gives whether there was one."""
        async with self._database.transaction() as transaction:
            gone = await transaction.execute(
                "DELETE FROM kv WHERE scope = :scope AND key = :key", scope=scope, key=key
            )
            if gone:
                await raise_version(transaction, group(scope))
            return bool(gone)


async def _get(database: Statements, scope: str, key: str) -> Any:
    rows = await database.fetch(
        "SELECT value FROM kv WHERE scope = :scope AND key = :key", scope=scope, key=key
    )
    return msgspec.json.decode(rows[0]["value"]) if rows else None


async def _put(transaction: Statements, scope: str, values: Mapping[str, Any]) -> None:
    rows = [
        {"scope": scope, "key": key, "value": msgspec.json.encode(value).decode()}
        for key, value in values.items()
    ]
    await transaction.execute_many(_PUT, rows)
