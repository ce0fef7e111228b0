"""The store of proxy pools: proxies that accounts name by id instead of having their own.

The address is sealed, for it may hold a user and a password. A pool whose seal
is broken is listed as ``broken``; its sealed text stays until a new address is given.
"""

import time
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ...contracts.errors import NotFound
from ..database import Database, Row, Statements
from ..errors import SealBroken
from ..ids import NewId, random_id
from ..moments import Clock, iso
from ..vault import Seal, Vault
from .versions import raise_version

GROUP = "proxy_pools"
TABLE = "proxy_pools"
_SWITCHES = ("is_active", "strict_proxy")
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


class ProxyPool(Struct, frozen=True, kw_only=True, rename="camel"):
    """One proxy and how it is to be used."""

    id: str
    name: str
    type: str
    """``http`` or ``socks5``; ``vercel`` and ``cloudflare`` are relays, which are only kept."""
    proxy_url: str
    """Empty when it cannot be opened."""
    no_proxy: str
    """Hosts that are called without it, with commas between."""
    is_active: bool
    strict_proxy: bool
    """A call fails when the proxy does, instead of going out directly."""
    test_status: str | None
    """``active`` or ``error``, once it was tested."""
    last_tested_at: str | None
    last_error: str | None
    created_at: str
    updated_at: str
    broken: bool = False
    """True when the stored address cannot be opened."""

    def __repr__(self) -> str:
        return f"ProxyPool({self.id!r}, type={self.type!r}, is_active={self.is_active})"


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


class ProxyPoolStore:
    """Shared proxies."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        *,
        clock: Clock = time.time,
        new_id: NewId = random_id,
    ) -> None:
        self._database = database
        self._seal = vault.seal_for("settings")
        self._clock = clock
        self._new_id = new_id

    async def list(self) -> tuple[ProxyPool, ...]:
        rows = await self._database.fetch("SELECT * FROM proxy_pools ORDER BY created_at, id")
        return tuple(_read(row, self._seal) for row in rows)

    async def get(self, pool_id: str) -> ProxyPool | None:
        rows = await self._database.fetch("SELECT * FROM proxy_pools WHERE id = :id", id=pool_id)
        return _read(rows[0], self._seal) if rows else None

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
        return _read(row, self._seal)

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
        return _read(row, self._seal)

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
        name: int(value) if name in _SWITCHES else value
        for name, value in fields.items()
        if value is not UNSET
    }


def _read(row: Row, seal: Seal) -> ProxyPool:
    fields = {**row, **{name: bool(row[name]) for name in _SWITCHES}}
    try:
        url = seal.open(row["proxy_url"], table=TABLE, column="proxy_url", row=row["id"])
    except SealBroken:
        return ProxyPool(**{**fields, "proxy_url": "", "broken": True})
    return ProxyPool(**{**fields, "proxy_url": url})


def _closed(seal: Seal, pool_id: str, url: str) -> str:
    return seal.close(url, table=TABLE, column="proxy_url", row=pool_id)


async def _row(transaction: Statements, pool_id: str) -> Row:
    rows = await transaction.fetch("SELECT * FROM proxy_pools WHERE id = :id", id=pool_id)
    if not rows:
        raise NotFound("Proxy pool not found")
    return rows[0]
