"""The store of the gateway's own keys: found by digest, their text sealed.

A key's row carries the number of the write that changed it last, so that a
process that keeps keys in memory reads only what is new.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ...contracts.errors import BadRequest, NotFound
from ..database import Database, Row, Statements
from ..ids import NewId, random_id
from ..moments import Clock, iso
from ..vault import Vault
from .former_names import keep_names
from .key_groups import label, unlabel
from .key_usage import forget
from .versions import raise_version

GROUP = "keys"
TABLE = "api_keys"
COLUMN = "secret"
_INSERT = """
    INSERT INTO api_keys (
        id, name, machine_id, digest, secret, is_active, inference_only, expires_at,
        allowed_combos, policy, daily_limit_tokens, created_at, updated_at, version
    ) VALUES (
        :id, :name, :machine_id, :digest, :secret, :is_active, :inference_only, :expires_at,
        :allowed_combos, :policy, :daily_limit_tokens, :created_at, :updated_at, :version
    )
"""
_UPDATE = """
    UPDATE api_keys SET
        name = :name, is_active = :is_active, inference_only = :inference_only,
        expires_at = :expires_at,
        allowed_combos = :allowed_combos, policy = :policy,
        daily_limit_tokens = :daily_limit_tokens, updated_at = :updated_at, version = :version
    WHERE id = :id
"""
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


class KeyChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays. ``policy`` replaces single members:
    ``None`` removes one."""

    name: str | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    inference_only: bool | UnsetType = UNSET
    expires_at: str | UnsetType | None = UNSET
    allowed_combos: tuple[str, ...] | UnsetType = UNSET
    policy: Mapping[str, Any] | UnsetType = UNSET
    daily_limit_tokens: int | UnsetType | None = UNSET
    provider_connection_ids: tuple[str, ...] | UnsetType = UNSET
    groups: tuple[str, ...] | UnsetType = UNSET
    """Labels; one that is new is made."""


class KeyStore:
    """Gateway keys."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        *,
        clock: Clock = time.time,
        new_id: NewId = random_id,
    ) -> None:
        self._database = database
        self._seal = vault.seal_for("keys")
        self.index_key = vault.key_for("key index")
        """What the digests are made with. It is not API_KEY_SECRET, so that keys without a
        check survive a change of that."""
        self._clock = clock
        self._new_id = new_id

    async def create(
        self,
        text: str,
        digest: str,
        machine_id: str,
        change: KeyChange,
        identity: str | None = None,
    ) -> ApiKey:
        """Save a key. Raises BadRequest for accounts that do not exist, UniqueViolation for a
        text that is a key already."""
        identity, now = identity or self._new_id(), iso(self._clock())
        async with self._database.transaction() as transaction:
            row = {
                "id": identity,
                "name": "",
                "machine_id": machine_id,
                "digest": digest,
                "secret": self._seal.close(text, table=TABLE, column=COLUMN, row=identity),
                "is_active": 1,
                "inference_only": 0,
                "expires_at": None,
                "allowed_combos": "[]",
                "policy": "{}",
                "daily_limit_tokens": None,
                "created_at": now,
                "updated_at": now,
            }
            version = await raise_version(transaction, GROUP)
            await transaction.execute(_INSERT, **{**_changed(row, change), "version": version})
            await self._join(transaction, identity, change)
            return await _one(transaction, identity)

    async def update(self, identity: str, change: KeyChange) -> ApiKey:
        """Change a key in one transaction. Raises NotFound, BadRequest."""
        async with self._database.transaction() as transaction:
            row = _changed(await _row(transaction, identity), change)
            version = await raise_version(transaction, GROUP)
            row |= {"updated_at": iso(self._clock()), "version": version}
            await transaction.execute(
                _UPDATE, **{name: row[name] for name in row if f":{name}" in _UPDATE}
            )
            await self._join(transaction, identity, change)
            return await _one(transaction, identity)

    async def _join(self, transaction: Statements, identity: str, change: KeyChange) -> None:
        """Change what a key is bound to and labelled with."""
        if change.provider_connection_ids is not UNSET:
            await _bind(transaction, identity, change.provider_connection_ids)
        if change.groups is not UNSET:
            await label(transaction, identity, change.groups, self._clock(), self._new_id)

    async def delete(self, identity: str) -> None:
        """Remove a key, its account scope, its labels and its sums; the ledger keeps its rows.

        Raises NotFound.
        """
        async with self._database.transaction() as transaction:
            await _row(transaction, identity)
            await keep_names(transaction, "key", [identity])
            await transaction.execute("DELETE FROM api_keys WHERE id = :id", id=identity)
            await transaction.execute(
                "DELETE FROM api_key_connections WHERE api_key_id = :id", id=identity
            )
            await unlabel(transaction, identity)
            await forget(transaction, identity)
            await raise_version(transaction, GROUP)

    async def list(self) -> tuple[ApiKey, ...]:
        """All keys, oldest first."""
        rows = await self._database.fetch("SELECT * FROM api_keys ORDER BY created_at, id")
        scopes = _by_key(await self._database.fetch(_SCOPE))
        return tuple(_read(row, scopes.get(row["id"], ())) for row in rows)

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
        return tuple(_read(row, scopes.get(row["id"], ())) for row in rows)

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
        return _read(rows[0], tuple(one["connection_id"] for one in scope))

    async def reveal(self, identity: str) -> str:
        """A key's full text. Raises NotFound, SealBroken."""
        row = await _row(self._database, identity)
        return self._seal.open(row["secret"], table=TABLE, column=COLUMN, row=identity)


def _changed(row: Row, change: KeyChange) -> dict[str, Any]:
    after = dict(row)
    for name in ("name", "expires_at", "daily_limit_tokens"):
        if (value := getattr(change, name)) is not UNSET:
            after[name] = value
    for name in ("is_active", "inference_only"):
        if (flag := getattr(change, name)) is not UNSET:
            after[name] = int(flag)
    if change.allowed_combos is not UNSET:
        after["allowed_combos"] = msgspec.json.encode(change.allowed_combos).decode()
    if change.policy is not UNSET:
        policy = {**msgspec.json.decode(after["policy"]), **change.policy}
        kept = {name: value for name, value in policy.items() if value is not None}
        after["policy"] = msgspec.json.encode(kept).decode()
    return after


async def _bind(transaction: Statements, identity: str, ids: Sequence[str]) -> None:
    """Replace the accounts of a key. Raises BadRequest for one that is named twice or is gone."""
    if len(set(ids)) != len(ids):
        raise BadRequest("providerConnectionIds names a connection twice")
    known = {row["id"] for row in await transaction.fetch("SELECT id FROM connections")}
    for one in ids:
        if one not in known:
            raise BadRequest(f"providerConnectionIds names an unknown connection: {one[:64]}")
    await transaction.execute("DELETE FROM api_key_connections WHERE api_key_id = :id", id=identity)
    await transaction.execute_many(
        "INSERT INTO api_key_connections (api_key_id, connection_id) VALUES (:key, :connection)",
        [{"key": identity, "connection": one} for one in ids],
    )


async def _row(statements: Statements, identity: str) -> Row:
    rows = await statements.fetch("SELECT * FROM api_keys WHERE id = :id", id=identity)
    if not rows:
        raise NotFound("API key not found")
    return rows[0]


async def _one(transaction: Statements, identity: str) -> ApiKey:
    scope = await transaction.fetch(
        "SELECT * FROM api_key_connections WHERE api_key_id = :id ORDER BY connection_id",
        id=identity,
    )
    row = await _row(transaction, identity)
    return _read(row, tuple(one["connection_id"] for one in scope))


def _by_key(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    accounts: dict[str, list[str]] = {}
    for row in rows:
        accounts.setdefault(row["api_key_id"], []).append(row["connection_id"])
    return {key: tuple(ids) for key, ids in accounts.items()}


def _read(row: Row, scope: Sequence[str]) -> ApiKey:
    fields = {name: value for name, value in row.items() if name != "secret"}
    for name in ("is_active", "inference_only"):
        fields[name] = bool(row[name])
    fields["allowed_combos"] = tuple(msgspec.json.decode(row["allowed_combos"]))
    fields["policy"] = msgspec.json.decode(row["policy"])
    return ApiKey(**fields, provider_connection_ids=tuple(scope))
