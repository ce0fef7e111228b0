"""The store of provider nodes: the operator's own endpoints that speak a known format."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..database import Database, Row

GROUP = "nodes"


class Node(Struct, frozen=True, kw_only=True, rename="camel"):
    """An endpoint of the operator's own."""

    id: str
    type: str
    name: str
    prefix: str
    """What stands before the slash in the names of its models."""
    api_type: str | None = None
    """``chat`` or ``responses``, where the type leaves a choice."""
    base_url: str | None = None
    icon_url: str | None = None
    data: Mapping[str, Any] = {}
    """Whatever else a type needs, such as a native model id."""
    created_at: str
    updated_at: str


class NodeStore:
    """The operator's own endpoints."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self) -> tuple[Node, ...]:
        rows = await self._database.fetch("SELECT * FROM nodes ORDER BY created_at, id")
        return tuple(read_node(row) for row in rows)

    async def get(self, identity: str) -> Node | None:
        rows = await self._database.fetch("SELECT * FROM nodes WHERE id = :id", id=identity)
        return read_node(rows[0]) if rows else None


def read_node(row: Row) -> Node:
    return Node(**{**row, "data": msgspec.json.decode(row["data"])})
