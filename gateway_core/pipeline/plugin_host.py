"""What a plugin's extensions hold of the running gateway: a part of it, or all where it is trusted.

```text
Host ─▶ name, version, clock, log     of no danger
     ─▶ settings                      the plugin's own
     ─▶ folder                        the plugin's own
     ─▶ transport()                   to hosts of its own providers and settings
     ─▶ core                          trusted plugins only
```

The part is a promise about doors, not a wall: code in the same process can
reach around it. See the page on plugins' security.
"""

import logging
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..contracts.errors import Forbidden
from ..contracts.exchange import Transport, UpstreamRequest, UpstreamResponse
from ..contracts.provider import ProviderSpec
from ..plugins.sources import CORE
from ..upstream.allowed_hosts import origin_of
from ..upstream.egress_policy import BoundTransport, read, refused
from ..upstream.proxies import proxy_for
from ..upstream.redaction import redact, secrets_of, texts
from .context import Collaborators

log = logging.getLogger(__name__)
_CORE_FIELDS = frozenset(Collaborators.__struct_fields__)


class Host:
    """One plugin's own. A plugin gets the same one in each of its hooks."""

    __slots__ = ("_core", "_folder", "_send", "_settings", "clock", "log", "name", "version")

    name: str
    """The plugin's."""
    version: str
    """Of the gateway."""
    clock: Callable[[], float]
    """Wall clock, seconds."""
    log: logging.Logger
    """Writes into the gateway's log under the plugin's name."""

    def __init__(
        self,
        name: str,
        *,
        settings: Callable[[], Struct | None],
        folder: Callable[[], Path],
        transport: Transport,
        clock: Callable[[], float],
        core: Collaborators | None = None,
    ) -> None:
        """``core`` is for a plugin that is trusted."""
        self.name = name
        self.version = running_version()
        self.clock = clock
        self.log = logging.getLogger(f"gateway_plugin.{name}")
        self._settings, self._folder, self._core = settings, folder, core
        self._send = transport.send

    def __repr__(self) -> str:
        return f"Host({self.name!r})"

    def __getattr__(self, name: str) -> Any:
        """Say why a collaborator of the gateway is not here. Raises Forbidden."""
        if name in _CORE_FIELDS:
            raise self._refusal(name)
        raise AttributeError(f"a Host has no {name}")

    @property
    def settings(self) -> Struct | None:
        """The plugin's settings as they are now; ``None`` when it declares none."""
        return self._settings()

    @property
    def folder(self) -> Path:
        """A folder for the plugin alone. Raises DataDirUnusable."""
        return self._folder()

    @property
    def core(self) -> Collaborators:
        """The whole gateway. Raises Forbidden for a plugin that is not trusted."""
        if self._core is None:
            raise self._refusal("core")
        return self._core

    def transport(self) -> Transport:
        """A way out to the hosts of the plugin's own providers, and to those its settings name."""
        return BoundTransport(self._send)

    def _refusal(self, wanted: str) -> Forbidden:
        log.warning("plugin %s: it is not trusted and gets no %s", self.name, wanted)
        return Forbidden(
            f"Plugin {self.name} is not trusted with the gateway's {wanted}; "
            "an operator can name it in GATEWAY_TRUST_PLUGINS."
        )


class Hosts:
    """Gives each plugin its host; ``trusted`` holds the names of those that get everything."""

    def __init__(self, core: Collaborators, trusted: frozenset[str]) -> None:
        self._core = core
        self._trusted = trusted
        self._made: dict[str, Host] = {}

    def of(self, plugin: str) -> Host:
        host = self._made.get(plugin)
        if host is None:
            core = self._core
            host = self._made[plugin] = Host(
                plugin,
                settings=lambda: core.plugin_settings.current(plugin),
                folder=lambda: core.data_dir.plugin_folder(plugin),
                transport=own_transport(core, plugin),
                clock=core.clock,
                core=core if plugin in self._trusted else None,
            )
        return host


def own_transport(core: Collaborators, plugin: str) -> Transport:
    """A way out for a plugin's extensions; it goes through the general proxy, if there is one."""

    async def send(request: UpstreamRequest) -> UpstreamResponse:
        url = read(request, lambda _: plugin, "")
        specs = tuple(_own(core, plugin))
        is_declared = any(core.egress_policy.reach(spec).covers(url.origin) for spec in specs)
        if not is_declared and url.origin not in named_origins(core, plugin):
            accounts = (core.snapshot.accounts.get(spec.id, ()) for spec in specs)
            secrets = (secrets_of(each.credential) for each in chain.from_iterable(accounts))
            raise refused(plugin, redact(url.origin, chain.from_iterable(secrets)))
        request = replace(request)
        way = proxy_for(core.snapshot.proxy, request.url)
        return await core.network.transport(way).send(request)

    return BoundTransport(send)


def _own(core: Collaborators, plugin: str) -> Iterator[ProviderSpec]:
    registry = core.snapshot.registry
    for id, owner in registry.provider_plugins.items():
        if owner == plugin:
            yield registry.providers[id]


def named_origins(core: Collaborators, plugin: str) -> frozenset[str]:
    """The origins of the addresses in a plugin's settings."""
    settings = core.plugin_settings.current(plugin)
    if settings is None:
        return frozenset()
    document = msgspec.to_builtins(settings, enc_hook=str)
    return frozenset(origin for text in texts(document) if (origin := origin_of(text.strip())))


@cache
def running_version() -> str:
    """The gateway's own; ``0`` where it is not installed as a package."""
    try:
        return version(CORE)
    except PackageNotFoundError:
        return "0"
