"""Keeping the tables in step with the database, whoever writes to it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from ..contracts.provider import Auth, ProviderSpec
from ..contracts.wire import WireFormat
from ..registry import Registry, with_providers
from ..storage.connections import STATE_GROUP
from ..storage.kv import ALIASES, CUSTOM_MODELS, DISABLED_MODELS, ENABLED_MODELS, PRICING
from ..storage.nodes import Node
from ..storage.stores import Stores
from ..storage.usage import GROUP as USAGE
from ..storage.versions import read_versions
from .prices import Prices
from .tables import Tables, accounts_of, models_of

LOOK_EVERY = 1.0
"""Seconds between two looks for writes of other processes."""
_UNSEEN = frozenset({USAGE, STATE_GROUP})
"""Groups that the tables do not show."""

log = logging.getLogger(__name__)


class Live:
    """Takes pictures of the stored configuration."""

    def __init__(self, stores: Stores, registry: Registry, prices: Prices) -> None:
        self._stores = stores
        self._registry = registry
        self._prices = prices
        self._lock = asyncio.Lock()

    async def take(self) -> Tables:
        """A new picture. The versions are read first, so a write in between shows up later."""
        async with self._lock:
            versions = await self._versions()
            settings = await self._stores.settings.read()
            nodes = await self._stores.nodes.list()
            registry = (
                with_providers(self._registry, self._specs(nodes)) if nodes else self._registry
            )
            kv = self._stores.kv
            models, hidden = models_of(
                registry,
                await kv.all(CUSTOM_MODELS),
                await kv.all(DISABLED_MODELS),
                await kv.all(ENABLED_MODELS),
            )
            self._prices.replace(await kv.all(PRICING))
            return Tables(
                registry=registry,
                settings=settings,
                accounts=accounts_of(await self._stores.connections.list(), settings, registry),
                combos={combo.name: combo for combo in await self._stores.combos.list()},
                aliases=await kv.all(ALIASES),
                models=models,
                hidden=hidden,
                versions=versions,
            )

    async def is_stale(self, tables: Tables) -> bool:
        return await self._versions() != tables.versions

    async def follow(
        self, current: Callable[[], Tables], refresh: Callable[[], Awaitable[None]]
    ) -> None:
        """Look again and again whether another process has written something."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                if await self.is_stale(current()):
                    await refresh()
            except Exception:
                log.exception("the stored configuration could not be read; it is tried again")

    async def _versions(self) -> Mapping[str, int]:
        found = await read_versions(self._stores.database)
        return {group: number for group, number in found.items() if group not in _UNSEEN}

    def _specs(self, nodes: Iterable[Node]) -> list[ProviderSpec]:
        specs = (node_spec(node, self._registry.formats) for node in nodes)
        return [spec for spec in specs if spec is not None]


COMPATIBLE = "-compatible"


def node_format(
    kind: str, api_type: str | None, formats: Mapping[str, WireFormat]
) -> WireFormat | None:
    """The format a node's type names: ``<format or its vendor>-compatible``."""
    name = kind.removesuffix(COMPATIBLE)
    if api_type == "responses":
        name = f"{name}-responses"
    for wire in formats.values():
        if wire.vendor is not None and name in (wire.id, *wire.also_called):
            return wire
    return None


def node_spec(node: Node, formats: Mapping[str, WireFormat]) -> ProviderSpec | None:
    """An operator's own endpoint as a provider; ``None`` while its format is not installed."""
    wire = node_format(node.type, node.api_type, formats)
    if wire is None:
        return None
    return ProviderSpec(
        id=node.id,
        name=node.name,
        alias=node.prefix,
        format=wire.id,
        base_url=(node.base_url or wire.base_url or "").rstrip("/") or None,
        auth=Auth(type="optional"),
        passthrough_models=True,
    )
