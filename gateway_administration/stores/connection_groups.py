"""The store of connection groups: names the operator gives to sets of accounts.

An account that is deleted leaves its groups by itself: members are read beside
the accounts there are.
"""

import time
from collections.abc import Iterable

from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import Conflict, NotFound
from gateway_core.storage.database import Database, Row, Statements
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.versions import raise_version

GROUP = "connection_groups"
_MEMBERS = """
    SELECT m.group_id, m.connection_id
    FROM connection_group_members m JOIN connections c ON c.id = m.connection_id
"""
_ORDER = "ORDER BY c.provider, c.priority, c.id"


class ConnectionGroup(Struct, frozen=True, kw_only=True, rename="camel"):
    """A named set of accounts."""

    id: str
    name: str
    connection_ids: tuple[str, ...] = ()
    """By provider and priority."""
    created_at: str
    updated_at: str


class NameTaken(Conflict):
    """Another group has the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"A connection group named {name} already exists")


class ConnectionGroupStore:
    """Named sets of accounts."""

    def __init__(
        self, database: Database, *, clock: Clock = time.time, new_id: NewId = random_id
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def list(self) -> tuple[ConnectionGroup, ...]:
        """All groups, by name."""
        rows = await self._database.fetch("SELECT * FROM connection_groups ORDER BY name, id")
        members = await self._database.fetch(f"{_MEMBERS} {_ORDER}")
        return tuple(_read(row, members) for row in rows)

    async def get(self, group_id: str) -> ConnectionGroup | None:
        return await _group(self._database, group_id)

    async def create(self, name: str, connection_ids: Iterable[str] = ()) -> ConnectionGroup:
        """Add a group. Raises NameTaken, NotFound for an account that does not exist."""
        group_id, now = self._new_id(), iso(self._clock())
        row = {"id": group_id, "name": name, "created_at": now, "updated_at": now}
        async with self._database.transaction() as transaction:
            await _write(
                transaction,
                """
                INSERT INTO connection_groups (id, name, created_at, updated_at)
                VALUES (:id, :name, :created_at, :updated_at)
                """,
                row,
            )
            await _add(transaction, group_id, connection_ids)
            await raise_version(transaction, GROUP)
            return await _existing(transaction, group_id)

    async def update(
        self,
        group_id: str,
        name: str | UnsetType = UNSET,
        connection_ids: Iterable[str] | UnsetType = UNSET,
    ) -> ConnectionGroup:
        """Rename a group or replace its members. Raises NotFound, NameTaken."""
        async with self._database.transaction() as transaction:
            before = await _existing(transaction, group_id)
            await _touch(
                transaction, group_id, before.name if name is UNSET else name, self._clock()
            )
            if connection_ids is not UNSET:
                await _clear(transaction, group_id)
                await _add(transaction, group_id, connection_ids)
            await raise_version(transaction, GROUP)
            return await _existing(transaction, group_id)

    async def add(self, group_id: str, connection_id: str) -> ConnectionGroup:
        """Put an account into a group, where it may be already. Raises NotFound."""
        async with self._database.transaction() as transaction:
            before = await _existing(transaction, group_id)
            await _touch(transaction, group_id, before.name, self._clock())
            await _add(transaction, group_id, (connection_id,))
            await raise_version(transaction, GROUP)
            return await _existing(transaction, group_id)

    async def remove(self, group_id: str, connection_id: str) -> None:
        """Take an account out of a group. Raises NotFound when it is not in it."""
        async with self._database.transaction() as transaction:
            before = await _existing(transaction, group_id)
            if connection_id not in before.connection_ids:
                raise NotFound("The connection is not in this group")
            await transaction.execute(
                """
                DELETE FROM connection_group_members
                WHERE group_id = :group_id AND connection_id = :connection_id
                """,
                group_id=group_id,
                connection_id=connection_id,
            )
            await _touch(transaction, group_id, before.name, self._clock())
            await raise_version(transaction, GROUP)

    async def delete(self, group_id: str) -> None:
        """Remove a group; its accounts stay. Raises NotFound."""
        async with self._database.transaction() as transaction:
            await _existing(transaction, group_id)
            await _clear(transaction, group_id)
            await transaction.execute("DELETE FROM connection_groups WHERE id = :id", id=group_id)
            await raise_version(transaction, GROUP)


def _read(row: Row, members: Iterable[Row]) -> ConnectionGroup:
    ids = tuple(m["connection_id"] for m in members if m["group_id"] == row["id"])
    return ConnectionGroup(**row, connection_ids=ids)


async def _group(statements: Statements, group_id: str) -> ConnectionGroup | None:
    rows = await statements.fetch("SELECT * FROM connection_groups WHERE id = :id", id=group_id)
    if not rows:
        return None
    members = await statements.fetch(f"{_MEMBERS} WHERE m.group_id = :id {_ORDER}", id=group_id)
    return _read(rows[0], members)


async def _existing(statements: Statements, group_id: str) -> ConnectionGroup:
    group = await _group(statements, group_id)
    if group is None:
        raise NotFound("Connection group not found")
    return group


async def _add(transaction: Statements, group_id: str, connection_ids: Iterable[str]) -> None:
    wanted = tuple(dict.fromkeys(connection_ids))
    known = {row["id"] for row in await transaction.fetch("SELECT id FROM connections")}
    if not known.issuperset(wanted):
        raise NotFound("Connection not found")
    await transaction.execute_many(
        """
        INSERT INTO connection_group_members (group_id, connection_id)
        VALUES (:group_id, :connection_id)
        ON CONFLICT (group_id, connection_id) DO NOTHING
        """,
        [{"group_id": group_id, "connection_id": each} for each in wanted],
    )


async def _clear(transaction: Statements, group_id: str) -> None:
    await transaction.execute(
        "DELETE FROM connection_group_members WHERE group_id = :group_id", group_id=group_id
    )


async def _touch(transaction: Statements, group_id: str, name: str, now: float) -> None:
    """Set the name and the time of the last change. Raises NameTaken."""
    await _write(
        transaction,
        "UPDATE connection_groups SET name = :name, updated_at = :updated_at WHERE id = :id",
        {"id": group_id, "name": name, "updated_at": iso(now)},
    )


async def _write(transaction: Statements, sql: str, row: Row) -> None:
    try:
        await transaction.execute(sql, **row)
    except UniqueViolation as error:
        raise NameTaken(row["name"]) from error
