"""The bodies and queries of requests about proxies."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from ..requests import Text

PoolType = Literal["http", "socks5", "vercel", "cloudflare"]


class PoolQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    is_active: bool | None = None
    include_usage: bool = False


class PoolBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is left out stays, or is usual in a new pool."""

    name: Text = UNSET
    proxy_url: Text = UNSET
    no_proxy: Text = UNSET
    type: PoolType | UnsetType = UNSET
    """Told by the address when it is left out: ``http`` or ``socks5``."""
    is_active: bool | UnsetType = UNSET
    strict_proxy: bool | UnsetType = UNSET


class ProxyTestBody(Struct, frozen=True, kw_only=True, rename="camel"):
    proxy_url: str | None = None
    """The stored proxy when it is left out."""
