"""How proxy pools and tests of proxies are shown."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.requests import Request

from gateway_core.storage.stores.proxy_pools import ProxyPool

from ..admin_context import AdminContext
from ..destinations import host_and_port
from .bodies import PoolType

BROKEN = "The stored address cannot be opened; save it again"


class PoolShape(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pool as ``pool_row`` shows it."""

    id: str
    name: str
    type: PoolType
    proxy_url: str
    no_proxy: str
    is_active: bool
    strict_proxy: bool
    test_status: Literal["active", "error"] | None
    last_tested_at: str | None
    last_error: str | None
    created_at: str
    updated_at: str
    bound_connection_count: int | UnsetType = UNSET
    """How many accounts use it; with ``includeUsage`` only."""


class PoolAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_pool: PoolShape


class PoolList(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_pools: tuple[PoolShape, ...]


class PoolTest(Struct, frozen=True, kw_only=True, rename="camel"):
    """``status`` is what answered through the proxy."""

    ok: bool
    status: int | None
    status_text: str
    error: str | None
    elapsed_ms: int
    tested_at: str


def pool_row(admin: AdminContext, request: Request, pool: ProxyPool) -> dict[str, Any]:
    """Render a pool as this caller may see it."""
    row: dict[str, Any] = msgspec.to_builtins(pool)
    broken = row.pop("broken")
    if broken:
        row |= {"testStatus": "error", "lastError": BROKEN}
    elif not admin.caller(request).is_operator:
        row["proxyUrl"] = host_and_port(pool.proxy_url)
    return row


class ProxyTest(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """``status`` is what answered through the proxy."""

    ok: bool
    status: int | None
    elapsed_ms: int
    error: str | None = None
