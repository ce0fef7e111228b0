"""Which proxy a vendor call goes through: its account's pool, its own, the general one, or none."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ..config.settings import Settings
from ..storage.stores.proxy_pools import ProxyPool

NO_POOL = (None, "", "__none__")
"""Values of ``proxyPoolId`` that stand for no pool."""
DIALLED = ("http", "socks5")
"""The types of pools that calls can go through; others are only kept."""
LOST = "http://proxy-address-cannot-be-read.invalid"
"""Stands for a proxy whose stored address does not open: a call must fail then, not go direct."""


class Proxy(Struct, frozen=True):
    """``url`` is an http, https or socks5 address; hosts of ``exempt`` are called directly."""

    url: str
    exempt: str = ""
    """Host names with commas between; a leading dot, or nothing, takes subdomains too."""
    strict: bool = True
    """A call fails when the proxy opens no way; otherwise it goes out directly then."""

    def __repr__(self) -> str:
        return f"Proxy(exempt={self.exempt!r}, strict={self.strict})"


def proxy_of(
    data: Mapping[str, Any], settings: Settings, pools: Mapping[str, ProxyPool] = {}
) -> Proxy | None:
    """The proxy of an account with this ``providerSpecificData``; ``pools`` are by id."""
    pool_id = data.get("proxyPoolId")
    if pool_id not in NO_POOL:
        pool = pools.get(str(pool_id))
        if pool is None or pool.is_active or pool.strict_proxy:
            return proxy_of_pool(pool)
    if data.get("connectionProxyEnabled") and data.get("connectionProxyUrl"):
        return Proxy(str(data["connectionProxyUrl"]), str(data.get("connectionNoProxy") or ""))
    if not settings.outbound_proxy_enabled:
        return None
    # An address that was set and cannot be read must not make calls go out directly.
    if "outboundProxyUrl" in settings.invalid:
        return Proxy(LOST)
    url = settings.outbound_proxy_url
    return Proxy(url, settings.outbound_no_proxy) if url else None


def proxy_of_pool(pool: ProxyPool | None) -> Proxy:
    """The proxy of a pool; ``LOST`` for a pool that is missing or cannot be used."""
    if pool is None or pool.broken or not pool.is_active or pool.type not in DIALLED:
        return Proxy(LOST)
    return Proxy(pool.proxy_url, pool.no_proxy, pool.strict_proxy)


def proxy_for(proxy: Proxy | None, url: str) -> str | None:
    """The proxy's address for a call to ``url``; loopback is never proxied."""
    if proxy is None:
        return None
    return None if _is_exempt(urlsplit(url).hostname or "", proxy.exempt) else proxy.url


@lru_cache(maxsize=1024)
def _is_exempt(host: str, exempt: str) -> bool:
    # A proxy would reach its own loopback, not this machine's.
    if host in ("localhost", "::1") or host.startswith("127."):
        return True
    names = (name.strip().lower().lstrip(".") for name in exempt.split(","))
    return any(name == "*" or host == name or host.endswith(f".{name}") for name in names if name)
