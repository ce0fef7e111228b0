"""What vendors keep for clients of the native facade: whose it is, and whether what it
has used was charged."""

from typing import Any

import msgspec
from msgspec import Struct

from gateway_core.contracts.usage import Usage
from gateway_core.storage.database import Database, Row
from gateway_core.storage.moments import Clock, iso

_SAME = (
    "provider = :provider AND connection_id = :connection_id "
    "AND family = :family AND resource_id = :resource_id"
)
_read_usage = msgspec.json.Decoder(Usage).decode


class ResourceName(Struct, frozen=True, kw_only=True):
    """What tells one resource from every other."""

    provider: str
    connection_id: str
    family: str
    resource_id: str

    def values(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self)


class NativeResource(Struct, frozen=True, kw_only=True):
    """A row. Times are UTC ISO text."""

    name: ResourceName
    api_key_id: str | None
    """The creating key, which may be gone; ``None`` for the operator."""
    model: str
    created_at: str
    request_id: str | None = None
    """The request whose usage row has what it used; ``None`` while nobody was charged."""
    claimed_at: str | None = None
    usage: Usage | None = None
    """What was used, until its usage row is recorded."""


class NativeResourceStore:
    """Resources by their names."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, name: ResourceName, api_key_id: str | None, model: str, *, charged_by: str | None
    ) -> None:
        """Note who has created something; ``charged_by`` is the request that is charged for it,
        where that is known. A vendor may answer with what exists already: it keeps its owner."""
        await self._database.execute(
            """
            INSERT INTO native_resources
                (provider, connection_id, family, resource_id, api_key_id, model, created_at,
                 request_id, claimed_at)
            VALUES
                (:provider, :connection_id, :family, :resource_id, :api_key_id, :model, :now,
                 :request_id, :claimed_at)
            ON CONFLICT (provider, connection_id, family, resource_id) DO NOTHING
            """,
            **name.values(),
            api_key_id=api_key_id,
            model=model,
            now=iso(self._clock()),
            request_id=charged_by,
            claimed_at=None if charged_by is None else iso(self._clock()),
        )

    async def find(self, name: ResourceName) -> NativeResource | None:
        rows = await self._database.fetch(
            f"SELECT * FROM native_resources WHERE {_SAME}", **name.values()
        )
        return _read(rows[0]) if rows else None

    async def claim(self, name: ResourceName, request_id: str, usage: Usage) -> bool:
        """Charge a request for what was used; false where another one is charged already."""
        changed = await self._database.execute(
            f"""
            UPDATE native_resources
            SET request_id = :request_id, claimed_at = :now, usage = :usage
            WHERE {_SAME} AND request_id IS NULL
            """,
            **name.values(),
            request_id=request_id,
            now=iso(self._clock()),
            usage=msgspec.json.encode(usage).decode(),
        )
        return changed == 1

    async def settle(self, name: ResourceName, request_id: str) -> None:
        """The usage row of a claim is recorded."""
        await self._database.execute(
            f"UPDATE native_resources SET usage = NULL WHERE {_SAME} AND request_id = :request_id",
            **name.values(),
            request_id=request_id,
        )

    async def unsettled(self, until: float) -> list[NativeResource]:
        """Claims made until then whose usage row may be missing; ``until`` is in Unix seconds."""
        rows = await self._database.fetch(
            "SELECT * FROM native_resources WHERE usage IS NOT NULL AND claimed_at <= :until "
            "ORDER BY claimed_at",
            until=iso(until),
        )
        return [_read(row) for row in rows]

    async def remove(self, name: ResourceName) -> None:
        """It is gone at the vendor."""
        await self._database.execute(f"DELETE FROM native_resources WHERE {_SAME}", **name.values())


def _read(row: Row) -> NativeResource:
    fields = dict(row)
    names = {field: fields.pop(field) for field in ResourceName.__struct_fields__}
    usage = fields.pop("usage")
    return NativeResource(
        name=ResourceName(**names), usage=None if usage is None else _read_usage(usage), **fields
    )
