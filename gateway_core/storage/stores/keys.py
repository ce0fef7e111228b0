"""The store of the gateway's own keys: found by digest, their text sealed.

A key's row carries the number of the write that changed it last, so that a
process that keeps keys in memory reads only what is new.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..database import Database, Row
from ..vault import Vault

GROUP = "keys"
TABLE = "api_keys"
_SCOPE = "SELECT * FROM api_key_connections ORDER BY api_key_id, connection_id"


class ApiKey(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stored key without its text. Times are UTC ISO text."""

    id: str
    name: str
    machine_id: str
    digest: str
    """Hex of the keyed hash that finds it."""
    is_active: bool
    inference_only: bool = False
    """Management routes are refused to it."""
    expires_at: str | None
    allowed_combos: tuple[str, ...]
    policy: Mapping[str, Any]
    daily_limit_tokens: int | None
    provider_connection_ids: tuple[str, ...]
    created_at: str
    updated_at: str
    version: int


class KeyStore:
    """Gateway keys."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._seal = vault.seal_for("keys")
        self.index_key = vault.key_for("key index")
        """What the digests are made with. It is not API_KEY_SECRET, so that keys without a
        check survive a change of that."""

    async def list(self) -> tuple[ApiKey, ...]:
        """All keys, oldest first."""
        rows = await self._database.fetch("SELECT * FROM api_keys ORDER BY created_at, id")
        scopes = _by_key(await self._database.fetch(_SCOPE))
        return tuple(read_key(row, scopes.get(row["id"], ())) for row in rows)

    async def changed_since(self, version: int) -> tuple[ApiKey, ...]:
        """Keys that were written after a version of the group."""
        rows = await self._database.fetch(
            "SELECT * FROM api_keys WHERE version > :version", version=version
        )
        scope = (
            "SELECT s.* FROM api_key_connections s JOIN api_keys k ON k.id = s.api_key_id "
            "WHERE k.version > :version ORDER BY s.api_key_id, s.connection_id"
        )
        scopes = _by_key(await self._database.fetch(scope, version=version)) if rows else {}
        return tuple(read_key(row, scopes.get(row["id"], ())) for row in rows)

    async def count(self) -> int:
        rows = await self._database.fetch("SELECT count(*) AS total FROM api_keys")
        total: int = rows[0]["total"]
        return total

    async def get(self, identity: str) -> ApiKey | None:
        rows = await self._database.fetch("SELECT * FROM api_keys WHERE id = :id", id=identity)
        if not rows:
            return None
        scope = await self._database.fetch(
            "SELECT * FROM api_key_connections WHERE api_key_id = :id ORDER BY connection_id",
            id=identity,
        )
        return read_key(rows[0], tuple(one["connection_id"] for one in scope))


def _by_key(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    accounts: dict[str, list[str]] = {}
    for row in rows:
        accounts.setdefault(row["api_key_id"], []).append(row["connection_id"])
    return {key: tuple(ids) for key, ids in accounts.items()}


def read_key(row: Row, scope: Sequence[str]) -> ApiKey:
    fields = {name: value for name, value in row.items() if name != "secret"}
    for name in ("is_active", "inference_only"):
        fields[name] = bool(row[name])
    fields["allowed_combos"] = tuple(msgspec.json.decode(row["allowed_combos"]))
    fields["policy"] = msgspec.json.decode(row["policy"])
    return ApiKey(**fields, provider_connection_ids=tuple(scope))
