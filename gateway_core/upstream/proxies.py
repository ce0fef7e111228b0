"""Which proxy a vendor call goes through.

The first that there is: the account's pool, the account's own, that of the settings, that of the
process's variables. Loopback is always called directly.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ..config.environment import Environment
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
    """Host names, addresses and networks with commas between; names take their subdomains too."""
    strict: bool = True
    """A call fails when the proxy opens no way; otherwise it goes out directly then."""
    plain_url: str | None = None
    """The proxy for calls to plain http addresses, where it is another; either may be empty, and
    then there is none."""

    def __repr__(self) -> str:
        return f"Proxy(exempt={self.exempt!r}, strict={self.strict})"


def environment_proxy(environment: Environment) -> Proxy | None:
    """The proxy that the process's variables name."""
    url = environment.https_proxy or environment.all_proxy or ""
    plain_url = environment.http_proxy or environment.all_proxy or ""
    if not (url or plain_url):
        return None
    return Proxy(url, environment.no_proxy or "", plain_url=plain_url)


def general_proxy(settings: Settings, otherwise: Proxy | None = None) -> Proxy | None:
    """The proxy of whatever has none of its own."""
    if not settings.outbound_proxy_enabled:
        return otherwise
    # An address that was set and cannot be read must not make calls go out directly.
    if "outboundProxyUrl" in settings.invalid:
        return Proxy(LOST)
    url = settings.outbound_proxy_url
    return Proxy(url, settings.outbound_no_proxy) if url else otherwise


def proxy_of(
    data: Mapping[str, Any], pools: Mapping[str, ProxyPool] = {}, general: Proxy | None = None
) -> Proxy | None:
    """The proxy of an account with this ``providerSpecificData``; ``pools`` are by id."""
    pool_id = data.get("proxyPoolId")
    if pool_id not in NO_POOL:
        pool = pools.get(str(pool_id))
        if pool is None or pool.is_active or pool.strict_proxy:
            return proxy_of_pool(pool)
    if data.get("connectionProxyEnabled") and data.get("connectionProxyUrl"):
        return Proxy(str(data["connectionProxyUrl"]), str(data.get("connectionNoProxy") or ""))
    return general


def proxy_of_pool(pool: ProxyPool | None) -> Proxy:
    """The proxy of a pool; ``LOST`` for a pool that is missing or cannot be used."""
    if pool is None or pool.broken or not pool.is_active or pool.type not in DIALLED:
        return Proxy(LOST)
    return Proxy(pool.proxy_url, pool.no_proxy, pool.strict_proxy)


def proxy_for(proxy: Proxy | None, url: str) -> str | None:
    """The proxy's address for a call to ``url``; loopback is never proxied."""
    if proxy is None:
        return None
    parts = urlsplit(url)
    if _is_exempt(parts.hostname or "", proxy.exempt):
        return None
    is_plain = proxy.plain_url is not None and parts.scheme == "http"
    return (proxy.plain_url if is_plain else proxy.url) or None


@lru_cache(maxsize=1024)
def _is_exempt(host: str, exempt: str) -> bool:
    # A proxy would reach its own loopback, not this machine's.
    if host in ("localhost", "::1") or host.startswith("127."):
        return True
    for name in (name.strip().lower().removeprefix("*.").lstrip(".") for name in exempt.split(",")):
        if name and (name == "*" or host == name or host.endswith(f".{name}")):
            return True
        # What is no network is a name that no host has.
        with suppress(ValueError):
            if "/" in name and ip_address(host) in ip_network(name, strict=False):
                return True
    return False
