"""How proxy pools and tests of proxies are shown."""

from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request

from gateway_core.storage.stores.proxy_pools import ProxyPool

from ..admin_context import AdminContext
from ..destinations import host_and_port

BROKEN = "The stored address cannot be opened; save it again"


class PoolAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_pool: dict[str, Any]


class PoolList(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_pools: tuple[dict[str, Any], ...]


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
