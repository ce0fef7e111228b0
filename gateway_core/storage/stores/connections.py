"""The store of accounts: rows of ``connections`` in, ``Connection`` values out.

Secrets are sealed together, one text for each row. A row whose seal is broken
is listed as ``broken``; its sealed text is never overwritten.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from ...contracts.errors import BadRequest, NotFound
from ..database import Database, Row, Statements
from ..errors import SealBroken, UniqueViolation
from ..ids import NewId, random_id
from ..moments import Clock, iso
from ..vault import Seal, Vault
from .connection import (
    Connection,
    ConnectionChange,
    DuplicateConnection,
    NewConnection,
    changed,
    shown_and_secret,
)
from .former_names import keep_names
from .key_scope import release
from .secret_members import Document, is_sealed, join, part
from .versions import raise_version

GROUP = "connections"
STATE_GROUP = "connection_state"
TABLE = "connections"
_ORDER = "ORDER BY provider, priority, created_at, id"
_INSERT = """
    INSERT INTO connections (
        id, provider, auth_type, name, email, priority, is_active, data, secrets,
        created_at, updated_at
    ) VALUES (
        :id, :provider, :auth_type, :name, :email, :priority, :is_active, :data, :secrets,
        :created_at, :updated_at
    )
"""
_UPDATE = """
    UPDATE connections SET
        auth_type = :auth_type, name = :name, email = :email, is_active = :is_active,
        data = :data, secrets = :secrets, updated_at = :updated_at
    WHERE id = :id
"""


class ConnectionStore:
    """Accounts at providers."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        *,
        clock: Clock = time.time,
        new_id: NewId = random_id,
    ) -> None:
        self._database = database
        self._seal = vault.seal_for("credentials")
        self._clock = clock
        self._new_id = new_id

    async def list(self, provider: str | None = None) -> tuple[Connection, ...]:
        """All accounts, or those of one provider, by provider and priority."""
        if provider is None:
            rows = await self._database.fetch(f"SELECT * FROM connections {_ORDER}")
        else:
            rows = await self._database.fetch(
                f"SELECT * FROM connections WHERE provider = :provider {_ORDER}", provider=provider
            )
        return tuple(_read(row, self._seal) for row in rows)

    async def get(self, connection_id: str) -> Connection | None:
        rows = await self._database.fetch(
            "SELECT * FROM connections WHERE id = :id", id=connection_id
        )
        return _read(rows[0], self._seal) if rows else None

    async def create(self, new: NewConnection) -> Connection:
        """Add an account. Raises DuplicateConnection."""
        connection_id, now = self._new_id(), iso(self._clock())
        whole = changed({}, new.data)
        async with self._database.transaction() as transaction:
            others = await _ids(transaction, new.provider)
            row = {
                "id": connection_id,
                "provider": new.provider,
                "auth_type": new.auth_type,
                "name": new.name,
                "email": new.email,
                "priority": len(others) + 1,
                "is_active": int(new.is_active),
                **_sealed(whole, connection_id, self._seal),
                "created_at": now,
                "updated_at": now,
            }
            await _write(transaction, _INSERT, row)
            if new.priority is not None:
                await _place(transaction, others, connection_id, new.priority)
            await raise_version(transaction, GROUP)
            return await self._read_again(transaction, connection_id)

    async def update(self, connection_id: str, change: ConnectionChange) -> Connection:
        """Change an account. Raises NotFound, DuplicateConnection, SealBroken."""
        async with self._database.transaction() as transaction:
            row = await _row(transaction, connection_id)
            after = {
                **row,
                **{
                    field: value
                    for field in ("auth_type", "name", "email", "is_active")
                    if (value := getattr(change, field)) is not UNSET
                },
                **_revised(row, change.data, self._seal),
                "updated_at": iso(self._clock()),
            }
            await _write(transaction, _UPDATE, {**after, "is_active": int(after["is_active"])})
            if change.priority is not UNSET:
                others = await _ids(transaction, row["provider"])
                await _place(transaction, others, connection_id, change.priority)
            await raise_version(transaction, GROUP)
            return await self._read_again(transaction, connection_id)

    async def note(self, states: Mapping[str, Document]) -> None:
        """Set members that tell how accounts fare: ``testStatus``, ``modelLock_…`` and the like.

        ``states`` goes from account id to members; ``None`` removes one. An
        account that is gone is passed over. Secrets do not belong here.
        """
        async with self._database.transaction() as transaction:
            for connection_id, members in states.items():
                if part(members, is_sealed)[1]:
                    raise ValueError("a secret is not part of an account's state")
                rows = await transaction.fetch(
                    "SELECT data FROM connections WHERE id = :id", id=connection_id
                )
                if rows:
                    data = changed(msgspec.json.decode(rows[0]["data"]), members)
                    await transaction.execute(
                        "UPDATE connections SET data = :data WHERE id = :id",
                        data=msgspec.json.encode(data).decode(),
                        id=connection_id,
                    )
            await raise_version(transaction, STATE_GROUP)

    async def reorder(self, provider: str, ids: Sequence[str]) -> None:
        """Give a provider's accounts a new order. Raises BadRequest unless all are named once."""
        async with self._database.transaction() as transaction:
            if sorted(ids) != sorted(await _ids(transaction, provider)):
                raise BadRequest("The list must name every connection of the provider once")
            await _renumber(transaction, ids)
            await raise_version(transaction, GROUP)

    async def delete(self, connection_id: str) -> None:
        """Remove an account; those behind it move up. Raises NotFound, ScopeWouldBroaden."""
        async with self._database.transaction() as transaction:
            provider = (await _row(transaction, connection_id))["provider"]
            await release(transaction, [connection_id])
            await keep_names(transaction, "connection", [connection_id])
            await transaction.execute("DELETE FROM connections WHERE id = :id", id=connection_id)
            await _renumber(transaction, await _ids(transaction, provider))
            await raise_version(transaction, GROUP)

    async def _read_again(self, transaction: Statements, connection_id: str) -> Connection:
        return _read(await _row(transaction, connection_id), self._seal)


def _read(row: Row, seal: Seal) -> Connection:
    try:
        opened, broken = _opened(row, seal), False
    except SealBroken:
        opened, broken = {}, True
    shown, secrets = shown_and_secret(join(msgspec.json.decode(row["data"]), opened))
    fields = {name: value for name, value in row.items() if name not in ("data", "secrets")}
    fields["is_active"] = bool(row["is_active"])
    return Connection(**fields, data=shown, secrets=secrets, broken=broken)


def _opened(row: Row, seal: Seal) -> Document:
    """The sealed members of a row. Raises SealBroken."""
    if row["secrets"] is None:
        return {}
    text = seal.open(row["secrets"], table=TABLE, column="secrets", row=row["id"])
    opened: dict[str, Any] = msgspec.json.decode(text)
    return opened


def _sealed(whole: Document, connection_id: str, seal: Seal) -> Row:
    """The two columns of a document: what is plain and what is sealed."""
    plain, secret = part(whole, is_sealed)
    text = msgspec.json.encode(secret).decode()
    place = {"table": TABLE, "column": "secrets", "row": connection_id}
    return {
        "data": msgspec.json.encode(plain).decode(),
        "secrets": seal.close(text, **place) if secret else None,
    }


def _revised(row: Row, changes: Document, seal: Seal) -> Row:
    """The two columns after changes; a seal that is not touched stays as it is."""
    plain = msgspec.json.decode(row["data"])
    try:
        opened = _opened(row, seal)
    except SealBroken:
        if part(changes, is_sealed)[1]:
            raise
        return {"data": msgspec.json.encode(changed(plain, changes)).decode()}
    after = changed(join(plain, opened), changes)
    if part(after, is_sealed)[1] == opened:
        return {"data": msgspec.json.encode(part(after, is_sealed)[0]).decode()}
    return _sealed(after, row["id"], seal)


async def _row(transaction: Statements, connection_id: str) -> Row:
    rows = await transaction.fetch("SELECT * FROM connections WHERE id = :id", id=connection_id)
    if not rows:
        raise NotFound("Connection not found")
    return rows[0]


async def _write(transaction: Statements, sql: str, row: Row) -> None:
    try:
        await transaction.execute(sql, **row)
    except UniqueViolation as error:
        raise DuplicateConnection(row["provider"], row["name"]) from error


async def _ids(transaction: Statements, provider: str) -> Sequence[str]:
    rows = await transaction.fetch(
        f"SELECT id FROM connections WHERE provider = :provider {_ORDER}", provider=provider
    )
    return [row["id"] for row in rows]


async def _place(
    transaction: Statements, ids: Sequence[str], connection_id: str, priority: int
) -> None:
    """Move one account to a priority; the others close up around it."""
    order = [other for other in ids if other != connection_id]
    order.insert(min(max(priority - 1, 0), len(order)), connection_id)
    await _renumber(transaction, order)


async def _renumber(transaction: Statements, ids: Sequence[str]) -> None:
    await transaction.execute_many(
        "UPDATE connections SET priority = :priority WHERE id = :id",
        [{"id": one, "priority": place} for place, one in enumerate(ids, 1)],
    )
