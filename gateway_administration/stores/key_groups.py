"""The store of key groups: labels the operator gives to gateway keys.

A key that is deleted leaves its groups by itself: members are read beside the
keys there are.
"""

import time
from collections.abc import Iterable, Mapping

from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import BadRequest, Conflict, NotFound
from gateway_core.storage.database import Database, Row, Statements
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.versions import raise_version

GROUP = "key_groups"
_MEMBERS = """
    SELECT m.group_id, m.api_key_id
    FROM key_group_members m JOIN api_keys k ON k.id = m.api_key_id
"""
_ORDER = "ORDER BY k.created_at, k.id"
_LABELS = """
    SELECT m.api_key_id, g.name
    FROM key_group_members m JOIN key_groups g ON g.id = m.group_id
"""
_INSERT = """
    INSERT INTO key_groups (id, name, color, created_at, updated_at)
    VALUES (:id, :name, :color, :created_at, :updated_at)
"""
_UPDATE = """
    UPDATE key_groups SET name = :name, color = :color, updated_at = :updated_at WHERE id = :id
"""
_JOIN = """
    INSERT INTO key_group_members (group_id, api_key_id) VALUES (:group_id, :api_key_id)
"""


class KeyGroup(Struct, frozen=True, kw_only=True, rename="camel"):
    """A label and the keys that wear it."""

    id: str
    name: str
    color: str | None = None
    key_ids: tuple[str, ...] = ()
    """Oldest first."""
    created_at: str
    updated_at: str


class KeyGroupChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays."""

    name: str | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    key_ids: tuple[str, ...] | UnsetType = UNSET


class GroupNameTaken(Conflict):
    """Another group has the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"A key group named {name} already exists")


class KeyGroupStore:
    """Labels of keys."""

    def __init__(
        self, database: Database, *, clock: Clock = time.time, new_id: NewId = random_id
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def list(self) -> tuple[KeyGroup, ...]:
        """All groups, by name."""
        rows = await self._database.fetch("SELECT * FROM key_groups ORDER BY name, id")
        members: dict[str, list[str]] = {}
        for row in await self._database.fetch(f"{_MEMBERS} {_ORDER}"):
            members.setdefault(row["group_id"], []).append(row["api_key_id"])
        return tuple(_read(row, members.get(row["id"], ())) for row in rows)

    async def get(self, group_id: str) -> KeyGroup | None:
        return await _group(self._database, group_id)

    async def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the groups of each key that is in any, in order."""
        labels_by_key: dict[str, tuple[str, ...]] = {}
        for row in await self._database.fetch(f"{_LABELS} ORDER BY g.name"):
            labels_by_key[row["api_key_id"]] = (
                *labels_by_key.get(row["api_key_id"], ()),
                row["name"],
            )
        return labels_by_key

    async def labels_of(self, key_id: str) -> tuple[str, ...]:
        """The names of the groups of one key, in order."""
        rows = await self._database.fetch(
            f"{_LABELS} WHERE m.api_key_id = :id ORDER BY g.name", id=key_id
        )
        return tuple(row["name"] for row in rows)

    async def create(self, change: KeyGroupChange) -> KeyGroup:
        """Add a group. Raises GroupNameTaken, BadRequest for a key that does not exist."""
        group_id = self._new_id()
        row = {**_new_row(group_id, self._clock()), **_fields(change)}
        async with self._database.transaction() as transaction:
            await _write(transaction, _INSERT, row)
            await _fill(transaction, group_id, change)
            await raise_version(transaction, GROUP)
            return await _existing(transaction, group_id)

    async def update(self, group_id: str, change: KeyGroupChange) -> KeyGroup:
        """Change a group. Raises NotFound, GroupNameTaken, BadRequest."""
        async with self._database.transaction() as transaction:
            before = await _existing(transaction, group_id)
            row = {"id": group_id, "name": before.name, "color": before.color}
            now = iso(self._clock())
            await _write(transaction, _UPDATE, {**row, **_fields(change), "updated_at": now})
            await _fill(transaction, group_id, change)
            await raise_version(transaction, GROUP)
            return await _existing(transaction, group_id)

    async def delete(self, group_id: str) -> None:
        """Remove a label; its keys stay as they are. Raises NotFound."""
        async with self._database.transaction() as transaction:
            await _existing(transaction, group_id)
            await _clear(transaction, group_id)
            await transaction.execute("DELETE FROM key_groups WHERE id = :id", id=group_id)
            await raise_version(transaction, GROUP)


async def label(
    transaction: Statements, key_id: str, names: Iterable[str], now: float, new_id: NewId
) -> None:
    """Give a key these labels and no others; a name that is new becomes a group."""
    rows = await transaction.fetch("SELECT id, name FROM key_groups")
    known = {row["name"]: row["id"] for row in rows}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            known[name] = new_id()
            await transaction.execute(_INSERT, **{**_new_row(known[name], now), "name": name})
    await unlabel(transaction, key_id)
    await transaction.execute_many(
        _JOIN, [{"group_id": known[name], "api_key_id": key_id} for name in wanted]
    )
    await raise_version(transaction, GROUP)


async def unlabel(transaction: Statements, key_id: str) -> None:
    """Take a key out of all its groups."""
    await transaction.execute(
        "DELETE FROM key_group_members WHERE api_key_id = :key_id", key_id=key_id
    )


def _new_row(group_id: str, now: float) -> dict[str, str | None]:
    at = iso(now)
    return {"id": group_id, "name": "", "color": None, "created_at": at, "updated_at": at}


def _fields(change: KeyGroupChange) -> dict[str, str | None]:
    values = {"name": change.name, "color": change.color}
    return {name: value for name, value in values.items() if value is not UNSET}


async def _fill(transaction: Statements, group_id: str, change: KeyGroupChange) -> None:
    """Replace the members. Raises BadRequest for a key that does not exist."""
    if change.key_ids is UNSET:
        return
    known = {row["id"] for row in await transaction.fetch("SELECT id FROM api_keys")}
    for one in change.key_ids:
        if one not in known:
            raise BadRequest(f"keyIds names an unknown key: {one[:64]}")
    await _clear(transaction, group_id)
    await transaction.execute_many(
        _JOIN,
        [{"group_id": group_id, "api_key_id": one} for one in dict.fromkeys(change.key_ids)],
    )


async def _clear(transaction: Statements, group_id: str) -> None:
    await transaction.execute(
        "DELETE FROM key_group_members WHERE group_id = :group_id", group_id=group_id
    )


def _read(row: Row, key_ids: Iterable[str]) -> KeyGroup:
    return KeyGroup(**row, key_ids=tuple(key_ids))


async def _group(statements: Statements, group_id: str) -> KeyGroup | None:
    rows = await statements.fetch("SELECT * FROM key_groups WHERE id = :id", id=group_id)
    if not rows:
        return None
    members = await statements.fetch(f"{_MEMBERS} WHERE m.group_id = :id {_ORDER}", id=group_id)
    return _read(rows[0], (row["api_key_id"] for row in members))


async def _existing(statements: Statements, group_id: str) -> KeyGroup:
    group = await _group(statements, group_id)
    if group is None:
        raise NotFound("Key group not found")
    return group


async def _write(transaction: Statements, sql: str, row: Row) -> None:
    try:
        await transaction.execute(sql, **row)
    except UniqueViolation as error:
        raise GroupNameTaken(row["name"]) from error
