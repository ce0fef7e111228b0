"""The store of combos, to write to."""

import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.storage.database import Database, Statements
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.combos import GROUP, JSON_COLUMNS, Combo, ComboStore, read_combo
from gateway_core.storage.stores.versions import raise_version

from .renames import Renaming, Rewritten, rewrite
from .setting_renames import move_combo_strategy

MAX_CONNECTIONS = 500
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_INSERT = """
    INSERT INTO combos (
        id, name, kind, models, members, capabilities, allowed_connection_ids,
        created_at, updated_at
    ) VALUES (
        :id, :name, :kind, :models, :members, :capabilities, :allowed_connection_ids,
        :created_at, :updated_at
    )
"""
_UPDATE = """
    UPDATE combos SET
        name = :name, kind = :kind, models = :models, members = :members,
        capabilities = :capabilities, allowed_connection_ids = :allowed_connection_ids,
        updated_at = :updated_at
    WHERE id = :id
"""


class ComboChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays."""

    name: str | UnsetType = UNSET
    kind: str | UnsetType | None = UNSET
    models: tuple[str, ...] | UnsetType = UNSET
    members: tuple[Mapping[str, Any], ...] | UnsetType | None = UNSET
    capabilities: Any = UNSET
    allowed_connection_ids: tuple[str, ...] | UnsetType = UNSET


class ComboEditor(ComboStore):
    """Combos, which it also makes, changes and removes."""

    def __init__(
        self, database: Database, *, clock: Clock = time.time, new_id: NewId = random_id
    ) -> None:
        super().__init__(database)
        self._clock = clock
        self._new_id = new_id

    async def create(self, new: ComboChange) -> Combo:
        """Add a combo. Raises BadRequest for a name that is missing, unusable or taken."""
        now = iso(self._clock())
        fields = {**_given(new), "id": self._new_id(), "created_at": now, "updated_at": now}
        combo = Combo(**{"name": "", **fields})
        async with self._database.transaction() as transaction:
            await _write(transaction, _INSERT, combo)
            await raise_version(transaction, GROUP)
        return combo

    async def update(
        self, combo_id: str, change: ComboChange, renaming: Renaming | None = None
    ) -> tuple[Combo, tuple[Rewritten, ...]]:
        """Change a combo, and with another name what names it.

        Raises NotFound, and BadRequest like ``create``.
        """
        rewritten: tuple[Rewritten, ...] = ()
        async with self._database.transaction() as transaction:
            before = await _row(transaction, combo_id)
            fields = {**_given(change), "updated_at": iso(self._clock())}
            combo = msgspec.structs.replace(before, **fields)
            await _write(transaction, _UPDATE, combo)
            if combo.name != before.name:
                await move_combo_strategy(transaction, before.name, combo.name)
            if renaming is not None:
                rewritten = await rewrite(transaction, renaming, combo.updated_at)
            await raise_version(transaction, GROUP)
        return combo, rewritten

    async def delete(self, combo_id: str) -> None:
        """Remove a combo and its entry in ``comboStrategies``. Raises NotFound."""
        async with self._database.transaction() as transaction:
            combo = await _row(transaction, combo_id)
            await transaction.execute("DELETE FROM combos WHERE id = :id", id=combo_id)
            await move_combo_strategy(transaction, combo.name, None)
            await raise_version(transaction, GROUP)


def _given(change: ComboChange) -> dict[str, Any]:
    fields = {name: getattr(change, name) for name in change.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


async def _row(transaction: Statements, combo_id: str) -> Combo:
    rows = await transaction.fetch("SELECT * FROM combos WHERE id = :id", id=combo_id)
    if not rows:
        raise NotFound("Combo not found")
    return read_combo(rows[0])


async def _write(transaction: Statements, sql: str, combo: Combo) -> None:
    if not _NAME.fullmatch(combo.name):
        raise BadRequest("A combo's name has letters, digits, dots, hyphens and underscores only")
    if len(combo.allowed_connection_ids) > MAX_CONNECTIONS:
        raise BadRequest(f"A combo allows at most {MAX_CONNECTIONS} connections")
    row = {name: getattr(combo, name) for name in combo.__struct_fields__}
    for name in JSON_COLUMNS:
        row[name] = None if row[name] is None else msgspec.json.encode(row[name]).decode()
    try:
        await transaction.execute(sql, **row)
    except UniqueViolation as error:
        raise BadRequest(f"A combo named {combo.name} already exists") from error
