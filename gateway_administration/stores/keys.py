"""The store of the gateway's own keys, to write to."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database, Row, Statements
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.former_names import keep_names
from gateway_core.storage.stores.key_usage import forget
from gateway_core.storage.stores.keys import GROUP, TABLE, ApiKey, KeyStore, read_key
from gateway_core.storage.stores.versions import raise_version
from gateway_core.storage.vault import Vault

from .key_groups import label, unlabel

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


class KeyEditor(KeyStore):
    """Gateway keys, which it also makes, changes, removes and shows."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        *,
        clock: Clock = time.time,
        new_id: NewId = random_id,
    ) -> None:
        super().__init__(database, vault)
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
    return read_key(row, tuple(one["connection_id"] for one in scope))
