"""Keeping the snapshot in step with the database, whichever process writes to it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from ..contracts.provider import Auth, ProviderSpec
from ..contracts.wire import WireFormat
from ..identity.keys import KeyTable
from ..metering.prices import Prices
from ..plugins import PluginSettings
from ..plugins.registry import Registry, with_providers
from ..storage.failure_log import FailureLog
from ..storage.stores import Stores
from ..storage.stores.audit import GROUP as AUDIT
from ..storage.stores.combos import GROUP as COMBOS
from ..storage.stores.connections import GROUP as CONNECTIONS
from ..storage.stores.connections import STATE_GROUP
from ..storage.stores.ended_sessions import GROUP as ENDED_SESSIONS
from ..storage.stores.keys import GROUP as KEYS
from ..storage.stores.keys import KeyStore
from ..storage.stores.kv import ALIASES, CUSTOM_MODELS, DISABLED_MODELS, ENABLED_MODELS, PRICING
from ..storage.stores.nodes import GROUP as NODES
from ..storage.stores.nodes import Node
from ..storage.stores.plugin_settings import GROUP as PLUGIN_SETTINGS
from ..storage.stores.proxy_pools import GROUP as POOLS
from ..storage.stores.settings import GROUP as SETTINGS
from ..storage.stores.usage import GROUP as USAGE
from ..storage.stores.versions import read_versions
from ..upstream.proxies import Proxy, general_proxy
from .snapshot import ConfigSnapshot, accounts_of, models_of

LOOK_EVERY = 1.0
"""Seconds between two looks for writes of other processes, if the database does not tell."""
_UNSEEN = frozenset({USAGE, STATE_GROUP, AUDIT})
"""Groups that the tables do not show."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class SnapshotLoader:
    """Takes pictures of the stored configuration."""

    def __init__(
        self,
        stores: Stores,
        registry: Registry,
        prices: Prices,
        plugin_settings: PluginSettings | None = None,
        keys: KeyTable | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        """``plugin_settings`` and ``keys`` are kept in step with what is stored. Keys are not part
        of the snapshot, because there may be many. ``proxy`` is used where none is stored."""
        self._stores = stores
        self._registry = registry
        self._prices = prices
        self._plugin_settings = plugin_settings or PluginSettings()
        self._keys = keys
        self._proxy = proxy
        self._lock = asyncio.Lock()
        self._kept: dict[str, tuple[int | None, Any]] = {}
        """What each group held at a version."""
        self._last: ConfigSnapshot | None = None
        self._shown: Mapping[str, int] = {}
        """The versions that the last picture was made of."""

    def amend(self, change: Callable[[Registry], Registry]) -> None:
        """Change what is known of the plugins; the next picture shows it."""
        self._registry = change(self._registry)
        self._last = None

    async def load(self) -> ConfigSnapshot:
        """A new picture. The versions are read first, so a write in between shows up later.

        Only what was written to since the last picture is read again.
        """
        async with self._lock:
            versions = await self._versions()
            if self._keys is not None:
                await take_keys(self._keys, self._stores.keys, versions.get(KEYS, 0))
            shown = {group: number for group, number in versions.items() if group != KEYS}
            # Plugins may be amended while the database is read: then it is read again.
            while self._last is None or shown != self._shown:
                registry = self._registry
                snapshot = await self._build(registry, versions)
                if registry is self._registry:
                    self._last, self._shown = snapshot, shown
            self._last = replace(self._last, versions=versions)
            return self._last

    async def _build(self, registry: Registry, versions: Mapping[str, int]) -> ConfigSnapshot:
        stores, kv = self._stores, self._stores.kv
        settings = await self._part(SETTINGS, versions, stores.settings.read)
        nodes = await self._part(NODES, versions, stores.nodes.list)
        connections = await self._part(CONNECTIONS, versions, stores.connections.list)
        combos = await self._part(COMBOS, versions, stores.combos.list)
        pools = {
            pool.id: pool for pool in await self._part(POOLS, versions, stores.proxy_pools.list)
        }
        ended = await self._part(ENDED_SESSIONS, versions, stores.ended_sessions.ids)
        documents = await self._part(PLUGIN_SETTINGS, versions, stores.plugin_settings.all)
        self._plugin_settings.take(documents)
        specs = [node_spec(node, registry.formats) for node in nodes]
        if specs:
            registry = with_providers(registry, [spec for spec in specs if spec is not None])
        rows = models_of(
            registry,
            await kv.all(CUSTOM_MODELS),
            await kv.all(DISABLED_MODELS),
            await kv.all(ENABLED_MODELS),
        )
        self._prices.replace(await kv.all(PRICING))
        proxy = general_proxy(settings, self._proxy)
        return ConfigSnapshot(
            registry=registry,
            settings=settings,
            accounts=accounts_of(connections, settings, registry, pools, proxy),
            pools=pools,
            proxy=proxy,
            ended_sessions=ended,
            combos={combo.name: combo for combo in combos},
            aliases=await kv.all(ALIASES),
            models=rows.models,
            hidden=rows.hidden,
            shown=rows.shown,
            versions=versions,
        )

    async def _part(
        self, group: str, versions: Mapping[str, int], read: Callable[[], Awaitable[T]]
    ) -> T:
        """What a store holds, read only if its group was written to."""
        version, kept = self._kept.get(group, (None, None))
        if version != versions.get(group, 0):
            version, kept = versions.get(group, 0), await read()
            self._kept[group] = (version, kept)
        part: T = kept
        return part

    async def is_stale(self, snapshot: ConfigSnapshot) -> bool:
        return await self._versions() != snapshot.versions

    async def follow(
        self, current: Callable[[], ConfigSnapshot], refresh: Callable[[], Awaitable[None]]
    ) -> None:
        """Look again and again whether another process has written something."""
        meanwhile = "What was read before holds until then."
        trouble = FailureLog(log, "Reading the stored configuration", meanwhile)
        while True:
            await self._stores.database.wait_for_writes(LOOK_EVERY)
            try:
                if await self.is_stale(current()):
                    await refresh()
            except Exception as error:
                trouble.met(error)
            else:
                trouble.over()

    async def _versions(self) -> Mapping[str, int]:
        versions = await read_versions(self._stores.database)
        return {group: number for group, number in versions.items() if group not in _UNSEEN}


async def take_keys(table: KeyTable, store: KeyStore, version: int) -> None:
    """Bring the table of keys to a version: what changed, or all when some were deleted."""
    if version == table.seen:
        return
    table.take(await store.changed_since(table.version))
    if len(table) != await store.count():
        table.replace(await store.list())
    table.seen = version


COMPATIBLE = "-compatible"
USUAL_FORMAT = ProviderSpec(id="x", name="x").format


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
    names = (node.type,) if wire is None else (node.type, wire.id)
    services = tuple(
        service
        for each in formats.values()
        for name in names
        for service in each.offers.get(name, ())
    )
    if wire is None and not services:
        return None
    usual = None if wire is None else wire.base_url
    return ProviderSpec(
        id=node.id,
        name=node.name,
        is_node=True,
        alias=node.prefix,
        # A node that is not for chat speaks nothing but its services, whatever is named here.
        format=USUAL_FORMAT if wire is None else wire.id,
        base_url=(node.base_url or usual or "").rstrip("/") or None,
        auth=Auth(type="optional"),
        passthrough_models=True,
        services=services,
    )
