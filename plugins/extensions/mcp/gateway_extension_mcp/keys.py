"""Keys of the MCP endpoint: which tools of which instances each may see and call.

They are rows of their own, and open nothing else of the gateway.
"""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway_core.contracts.errors import BadRequest, Conflict, NotFound
from gateway_core.identity.keys import LONGEST
from gateway_core.pipeline.context import Collaborators

from .instances import PURPOSE

SCOPE = "mcpKeys"
MOST = 1000
MOST_GRANTS = 100
MOST_TOOLS = 500
ALL = "*"
ID_LENGTH = 32

Grants = Mapping[str, tuple[str, ...]]
"""By an instance's slug the names of its tools, without prefix; ``*`` stands for all."""


class McpKey(Struct, frozen=True, kw_only=True, rename="camel"):
    """One key."""

    id: str
    """The beginning of its keyed hash, which gives nothing of it away."""
    digest: str
    name: str
    sealed: str
    """Its text."""
    is_active: bool = True
    grants: dict[str, tuple[str, ...]] = {}
    created_at: str = ""

    def may_call(self, slug: str, tool: str) -> bool:
        tools = self.grants.get(slug, ())
        return ALL in tools or tool in tools


class KeyBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A new key."""

    name: str
    grants: dict[str, tuple[str, ...]] = {}


class KeyChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Members that stay away keep their values."""

    name: str | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    grants: dict[str, tuple[str, ...]] | UnsetType = UNSET


class KeyRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """A key as it is shown."""

    id: str
    name: str
    is_active: bool
    grants: dict[str, tuple[str, ...]]
    created_at: str


class NewKey(KeyRow, frozen=True, kw_only=True, rename="camel"):
    """With its text, which is shown when it is made."""

    key: str


def row_of(key: McpKey) -> KeyRow:
    return KeyRow(
        id=key.id,
        name=key.name,
        is_active=key.is_active,
        grants=key.grants,
        created_at=key.created_at,
    )


def check(name: str, grants: Grants) -> None:
    """Raises BadRequest."""
    if not 1 <= len(name.strip()) <= 200:
        raise BadRequest("name has 1 to 200 characters")
    if len(grants) > MOST_GRANTS or any(len(tools) > MOST_TOOLS for tools in grants.values()):
        raise BadRequest(f"grants name at most {MOST_GRANTS} instances and {MOST_TOOLS} tools each")
    if any(len(text) > LONGEST for tools in grants.values() for text in tools):
        raise BadRequest("A tool's name is too long")


class KeyStore:
    """Read anew with each use."""

    def __init__(self, core: Collaborators) -> None:
        self._kv = core.stores.kv
        self._seal = core.stores.vault.seal_for(PURPOSE)
        self._mint = core.identity.keys.mint

    async def all(self) -> list[McpKey]:
        rows = await self._kv.all(SCOPE)
        found = [msgspec.convert(row, McpKey) for row in rows.values()]
        return sorted(found, key=lambda each: (each.created_at, each.id))

    async def find(self, text: str) -> McpKey | None:
        """The key with this text, if it may be used."""
        if len(text) > LONGEST:
            return None
        digest = self._mint.digest(text).hex()
        row = await self._kv.get(SCOPE, digest[:ID_LENGTH])
        key = None if row is None else msgspec.convert(row, McpKey)
        if key is None or not hmac.compare_digest(key.digest, digest):
            return None
        return key if key.is_active else None

    async def add(self, body: KeyBody, now: str) -> tuple[McpKey, str]:
        """Gives the key and its text. Raises BadRequest, Conflict."""
        check(body.name, body.grants)
        if len(await self._kv.all(SCOPE)) >= MOST:
            raise Conflict(f"There are {MOST} keys already")
        text = self._mint.new()
        digest = self._mint.digest(text).hex()
        id = digest[:ID_LENGTH]
        key = McpKey(
            id=id,
            digest=digest,
            name=body.name.strip(),
            sealed=self._seal.close(text, table="kv", column=SCOPE, row=id),
            grants=body.grants,
            created_at=now,
        )
        await self._kv.put(SCOPE, {id: msgspec.to_builtins(key)})
        return key, text

    async def change(self, id: str, change: KeyChange) -> McpKey:
        """Raises BadRequest, NotFound."""

        def decide(before: McpKey) -> McpKey:
            members = {
                name: value
                for name in change.__struct_fields__
                if (value := getattr(change, name)) is not UNSET
            }
            after = replace(before, **members)
            check(after.name, after.grants)
            return after

        return await self._amend(id, decide)

    async def reveal(self, id: str) -> str:
        """Its text. Raises NotFound."""
        row = await self._kv.get(SCOPE, id)
        if row is None:
            raise NotFound("There is no such key")
        return self._seal.open(row["sealed"], table="kv", column=SCOPE, row=id)

    async def remove(self, id: str) -> bool:
        return await self._kv.delete(SCOPE, id)

    async def forget(self, slug: str) -> None:
        """Take back what keys may do at an instance: another one may get its name."""

        def decide(before: McpKey) -> McpKey:
            kept = {name: tools for name, tools in before.grants.items() if name != slug}
            return replace(before, grants=kept)

        for key in await self.all():
            if slug in key.grants:
                await self._amend(key.id, decide)

    async def _amend(self, id: str, decide: Callable[[McpKey], McpKey]) -> McpKey:
        after: list[McpKey] = []

        def put(before: Any) -> Any:
            if before is None:
                raise NotFound("There is no such key")
            after.append(decide(msgspec.convert(before, McpKey)))
            return msgspec.to_builtins(after[-1])

        await self._kv.amend(SCOPE, id, put)
        return after[-1]
