"""The store of provider nodes, to write to.

A node's connections name the node as their provider and repeat some of its
fields; the store keeps them in step.
"""

import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import BadRequest, Conflict, NotFound
from gateway_core.storage.database import Database, Statements
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.connection import PROVIDER_DATA, changed
from gateway_core.storage.stores.connections import GROUP as CONNECTIONS
from gateway_core.storage.stores.former_names import keep_names
from gateway_core.storage.stores.key_scope import release
from gateway_core.storage.stores.kv import CUSTOM_MODELS
from gateway_core.storage.stores.kv import group as kv_group
from gateway_core.storage.stores.nodes import GROUP, Node, NodeStore, read_node
from gateway_core.storage.stores.versions import raise_version

from .renames import Renaming, Rewritten, rewrite

_TYPE = re.compile(r"[a-z0-9][a-z0-9.-]*-compatible|custom-embedding|custom-systemone")
"""A format or its vendor, then ``-compatible``; which formats there are is for others to know."""
_INSERT = """
    INSERT INTO nodes (
        id, type, name, prefix, api_type, base_url, icon_url, data, created_at, updated_at
    ) VALUES (
        :id, :type, :name, :prefix, :api_type, :base_url, :icon_url, :data, :created_at,
        :updated_at
    )
"""
_UPDATE = """
    UPDATE nodes SET
        name = :name, prefix = :prefix, api_type = :api_type, base_url = :base_url,
        icon_url = :icon_url, data = :data, updated_at = :updated_at
    WHERE id = :id
"""


class PrefixTaken(Conflict):
    def __init__(self) -> None:
        super().__init__("Provider prefix already exists or is reserved")


class NewNode(Struct, frozen=True, kw_only=True, rename="camel"):
    type: str = "openai-compatible"
    name: str
    prefix: str
    api_type: str | None = None
    base_url: str | None = None
    icon_url: str | None = None
    data: Mapping[str, Any] = {}


class NodeChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays. ``data`` is replaced as a whole."""

    name: str | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    api_type: str | UnsetType | None = UNSET
    base_url: str | UnsetType | None = UNSET
    icon_url: str | UnsetType | None = UNSET
    data: Mapping[str, Any] | UnsetType = UNSET


def node_id(type_: str, api_type: str | None, random: str) -> str:
    """The id of a node, which names its type. Raises BadRequest for what cannot be a type."""
    if not _TYPE.fullmatch(type_):
        raise BadRequest("Invalid type: <format>-compatible, custom-embedding or custom-systemone")
    if type_ == "openai-compatible":
        return f"{type_}-{api_type or 'chat'}-{random}"
    return f"{type_}-{random}"


class NodeEditor(NodeStore):
    """Nodes, which it also makes, changes and removes."""

    def __init__(
        self, database: Database, *, clock: Clock = time.time, new_id: NewId = random_id
    ) -> None:
        super().__init__(database)
        self._clock = clock
        self._new_id = new_id

    async def create(self, new: NewNode) -> Node:
        """Add a node. Raises BadRequest, PrefixTaken."""
        now = iso(self._clock())
        fields = msgspec.structs.asdict(new)
        identity = node_id(new.type, new.api_type, self._new_id())
        node = Node(**fields, id=identity, created_at=now, updated_at=now)
        async with self._database.transaction() as transaction:
            await _write(transaction, _INSERT, node)
            await raise_version(transaction, GROUP)
        return node

    async def update(
        self, identity: str, change: NodeChange, renaming: Renaming | None = None
    ) -> tuple[Node, tuple[Rewritten, ...]]:
        """Change a node, what its connections repeat of it, and with another prefix what names
        its models. Raises NotFound, PrefixTaken, and what ``renaming`` raises."""
        rewritten: tuple[Rewritten, ...] = ()
        values = {n: v for n, v in msgspec.structs.asdict(change).items() if v is not UNSET}
        async with self._database.transaction() as transaction:
            before = await _row(transaction, identity)
            node = msgspec.structs.replace(before, **values, updated_at=iso(self._clock()))
            await _write(transaction, _UPDATE, node)
            await _mirror(transaction, node)
            if renaming is not None:
                rewritten = await rewrite(transaction, renaming, node.updated_at)
            await raise_version(transaction, GROUP)
        return node, rewritten

    async def delete(self, identity: str) -> None:
        """Remove a node, its connections and its custom models.

        Raises NotFound, ScopeWouldBroaden.
        """
        async with self._database.transaction() as transaction:
            await _row(transaction, identity)
            rows = await transaction.fetch(
                "SELECT id FROM connections WHERE provider = :id ORDER BY priority, id", id=identity
            )
            accounts = [row["id"] for row in rows]
            await release(transaction, accounts)
            await keep_names(transaction, "node", [identity])
            await keep_names(transaction, "connection", accounts)
            await transaction.execute("DELETE FROM nodes WHERE id = :id", id=identity)
            await transaction.execute("DELETE FROM connections WHERE provider = :id", id=identity)
            await transaction.execute(
                "DELETE FROM kv WHERE scope = :scope AND key = :key",
                scope=CUSTOM_MODELS,
                key=identity,
            )
            for group in (GROUP, CONNECTIONS, kv_group(CUSTOM_MODELS)):
                await raise_version(transaction, group)


async def _row(transaction: Statements, identity: str) -> Node:
    rows = await transaction.fetch("SELECT * FROM nodes WHERE id = :id", id=identity)
    if not rows:
        raise NotFound("Provider node not found")
    return read_node(rows[0])


async def _write(transaction: Statements, sql: str, node: Node) -> None:
    row = {**msgspec.structs.asdict(node), "data": msgspec.json.encode(node.data).decode()}
    try:
        await transaction.execute(sql, **row)
    except UniqueViolation as error:
        raise PrefixTaken from error


async def _mirror(transaction: Statements, node: Node) -> None:
    """Bring the fields that a node's connections repeat up to date."""
    mirrored = {
        "prefix": node.prefix,
        "apiType": node.api_type,
        "baseUrl": node.base_url,
        "nodeName": node.name,
    }
    rows = await transaction.fetch(
        "SELECT id, data FROM connections WHERE provider = :id", id=node.id
    )
    for row in rows:
        data = changed(
            {PROVIDER_DATA: {}, **msgspec.json.decode(row["data"])}, {PROVIDER_DATA: mirrored}
        )
        await transaction.execute(
            "UPDATE connections SET data = :data WHERE id = :id",
            data=msgspec.json.encode(data).decode(),
            id=row["id"],
        )
    if rows:
        await raise_version(transaction, CONNECTIONS)
