"""The store of proxy pools: proxies that accounts name by id instead of having their own.

The address is sealed, for it may hold a user and a password. A pool whose seal
is broken is listed as ``broken``; its sealed text stays until a new address is given.
"""

from msgspec import Struct

from ..database import Database, Row
from ..errors import SealBroken
from ..vault import Seal, Vault

GROUP = "proxy_pools"
TABLE = "proxy_pools"
SWITCHES = ("is_active", "strict_proxy")


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


class ProxyPoolStore:
    """Shared proxies."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._seal = vault.seal_for("settings")

    async def list(self) -> tuple[ProxyPool, ...]:
        rows = await self._database.fetch("SELECT * FROM proxy_pools ORDER BY created_at, id")
        return tuple(read_pool(row, self._seal) for row in rows)

    async def get(self, pool_id: str) -> ProxyPool | None:
        rows = await self._database.fetch("SELECT * FROM proxy_pools WHERE id = :id", id=pool_id)
        return read_pool(rows[0], self._seal) if rows else None


def read_pool(row: Row, seal: Seal) -> ProxyPool:
    fields = {**row, **{name: bool(row[name]) for name in SWITCHES}}
    try:
        url = seal.open(row["proxy_url"], table=TABLE, column="proxy_url", row=row["id"])
    except SealBroken:
        return ProxyPool(**{**fields, "proxy_url": "", "broken": True})
    return ProxyPool(**{**fields, "proxy_url": url})
