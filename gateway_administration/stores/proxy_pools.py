"""The store of proxy pools, to write to."""

import time
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import NotFound
from gateway_core.storage.database import Database, Row, Statements
from gateway_core.storage.ids import NewId, random_id
from gateway_core.storage.moments import Clock, iso
from gateway_core.storage.stores.proxy_pools import (
    GROUP,
    SWITCHES,
    TABLE,
    ProxyPool,
    ProxyPoolStore,
    read_pool,
)
from gateway_core.storage.stores.versions import raise_version
from gateway_core.storage.vault import Seal, Vault

_INSERT = """
    INSERT INTO proxy_pools (
        id, name, type, proxy_url, no_proxy, is_active, strict_proxy, test_status,
        last_tested_at, last_error, created_at, updated_at
    ) VALUES (
        :id, :name, :type, :proxy_url, :no_proxy, :is_active, :strict_proxy, :test_status,
        :last_tested_at, :last_error, :created_at, :updated_at
    )
"""
_UPDATE = """
    UPDATE proxy_pools SET
        name = :name, type = :type, proxy_url = :proxy_url, no_proxy = :no_proxy,
        is_active = :is_active, strict_proxy = :strict_proxy, test_status = :test_status,
        last_tested_at = :last_tested_at, last_error = :last_error, updated_at = :updated_at
    WHERE id = :id
"""


class NewProxyPool(Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    proxy_url: str
    type: str = "http"
    no_proxy: str = ""
    is_active: bool = True
    strict_proxy: bool = False

    def __repr__(self) -> str:
        return f"NewProxyPool({self.name!r})"


class ProxyPoolChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be different; what is unset stays."""

    name: str | UnsetType = UNSET
    proxy_url: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    no_proxy: str | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    strict_proxy: bool | UnsetType = UNSET
    test_status: str | UnsetType | None = UNSET
    last_tested_at: str | UnsetType | None = UNSET
    last_error: str | UnsetType | None = UNSET

    def __repr__(self) -> str:
        return "ProxyPoolChange()"


class ProxyPoolEditor(ProxyPoolStore):
    """Shared proxies, which it also makes, changes and removes."""

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

    async def create(self, new: NewProxyPool) -> ProxyPool:
        pool_id, now = self._new_id(), iso(self._clock())
        row = {
            **_given(new),
            "id": pool_id,
            "proxy_url": _closed(self._seal, pool_id, new.proxy_url),
            "test_status": None,
            "last_tested_at": None,
            "last_error": None,
            "created_at": now,
            "updated_at": now,
        }
        async with self._database.transaction() as transaction:
            await transaction.execute(_INSERT, **row)
            await raise_version(transaction, GROUP)
        return read_pool(row, self._seal)

    async def update(self, pool_id: str, change: ProxyPoolChange) -> ProxyPool:
        """Change a pool. Raises NotFound."""
        values = _given(change)
        if isinstance(change.proxy_url, str):
            values["proxy_url"] = _closed(self._seal, pool_id, change.proxy_url)
        async with self._database.transaction() as transaction:
            before = await _row(transaction, pool_id)
            row = {**before, **values, "updated_at": iso(self._clock())}
            await transaction.execute(
                _UPDATE, **{name: value for name, value in row.items() if name != "created_at"}
            )
            await raise_version(transaction, GROUP)
        return read_pool(row, self._seal)

    async def delete(self, pool_id: str) -> None:
        """Remove a pool. Raises NotFound."""
        async with self._database.transaction() as transaction:
            await _row(transaction, pool_id)
            await transaction.execute("DELETE FROM proxy_pools WHERE id = :id", id=pool_id)
            await raise_version(transaction, GROUP)


def _given(struct: Struct) -> dict[str, Any]:
    """The columns that a struct sets; switches as numbers."""
    fields = msgspec.structs.asdict(struct)
    return {
        name: int(value) if name in SWITCHES else value
        for name, value in fields.items()
        if value is not UNSET
    }


def _closed(seal: Seal, pool_id: str, url: str) -> str:
    return seal.close(url, table=TABLE, column="proxy_url", row=pool_id)


async def _row(transaction: Statements, pool_id: str) -> Row:
    rows = await transaction.fetch("SELECT * FROM proxy_pools WHERE id = :id", id=pool_id)
    if not rows:
        raise NotFound("Proxy pool not found")
    return rows[0]
