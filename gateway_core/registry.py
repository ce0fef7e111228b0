"""What is installed, frozen. After start-up every question is one look-up.

Of two answers that claim one name the first stays, in the order of the
plugins' names, and the problem that is recorded names both plugins. Ids go
before aliases: no alias takes a name that is some provider's id.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import pluggy
from msgspec import Struct
from msgspec.structs import replace

from .contracts.interceptor import Interceptor
from .contracts.provider import ProviderSpec
from .contracts.wire import WireFormat
from .plugins import HOOK_LIMIT, Loaded, Plugin, Problem, State, answers, report
from .validation import format_faults, interceptor_faults, mended, provider_faults

LATER_HOOKS = frozenset({"register_routes", "lifespan", "register_commands"})
"""Asked by others, once the registry stands."""
MOST_FAULTS = 5
"""How many faults of one answer are told."""
RUNTIME = "runtime"
"""Stands for a plugin where a provider was added while the gateway runs."""


class Registry(Struct, frozen=True, kw_only=True):
    """Everything the plugins brought. The mappings cannot be written to."""

    formats: Mapping[str, WireFormat] = MappingProxyType({})
    providers: Mapping[str, ProviderSpec] = MappingProxyType({})
    names: Mapping[str, str] = MappingProxyType({})
    """Every id and alias, to the provider's id."""
    interceptors: tuple[Interceptor, ...] = ()
    """In the order they stand on the path."""
    format_plugins: Mapping[str, str] = MappingProxyType({})
    """Which plugin brought a format."""
    provider_plugins: Mapping[str, str] = MappingProxyType({})
    """Which plugin brought a provider; ``runtime`` for one that was added later."""
    plugins: tuple[Plugin, ...] = ()
    problems: tuple[Problem, ...] = ()


def build(loaded: Loaded, *, limit: float = HOOK_LIMIT) -> Registry:
    """Ask every plugin once and keep the answers that are sound.

    A plugin one of whose hooks fails is switched off as a whole: none of its
    answers counts and its other hooks are taken out of ``loaded.manager``.
    ``limit`` is for each hook of each plugin, in seconds.
    """
    draft = _Draft(Registry(problems=loaded.problems))
    given = _ask(loaded.manager, draft.problems, limit)
    draft.add_formats(given["register_formats"])
    draft.add_providers(given["register_providers"])
    draft.add_interceptors(given["register_interceptors"])
    return draft.freeze(_judged(plugin, loaded.manager, draft) for plugin in loaded.plugins)


def with_providers(registry: Registry, specs: Iterable[ProviderSpec]) -> Registry:
    """The registry with providers added that no plugin brings, such as an operator's own nodes.

    Whoever is there keeps its names. A provider that is not sound is recorded
    as a problem, like a plugin's. Costs one copy of the tables.
    """
    draft = _Draft(registry)
    draft.add_providers((RUNTIME, spec) for spec in specs)
    return draft.freeze(registry.plugins)


def _ask(
    manager: pluggy.PluginManager, problems: list[Problem], limit: float
) -> dict[str, list[tuple[str, Any]]]:
    given = {}
    for name in ("register_formats", "register_providers", "register_interceptors"):
        given[name] = answers(getattr(manager.hook, name), problems, limit=limit)
        for plugin in _failed(problems):
            manager.unregister(name=plugin)
    failed = _failed(problems)
    return {
        name: [(plugin, answer) for plugin, answer in told if plugin not in failed]
        for name, told in given.items()
    }


def _failed(problems: Iterable[Problem]) -> set[str]:
    return {problem.plugin for problem in problems if problem.fatal}


def _judged(plugin: Plugin, manager: pluggy.PluginManager, draft: "_Draft") -> Plugin:
    """The plugin's record once its answers are known."""
    if plugin.state is not State.LOADED:
        return plugin
    error = next((p.message for p in draft.problems if p.fatal and p.plugin == plugin.name), None)
    if plugin.name not in draft.credited and not _has_later_hooks(plugin, manager):
        error = error or draft.refused.get(plugin.name)
    return plugin if error is None else replace(plugin, state=State.FAILED, error=error)


def _has_later_hooks(plugin: Plugin, manager: pluggy.PluginManager) -> bool:
    callers = manager.get_hookcallers(manager.get_plugin(plugin.name)) or []
    return any(caller.name in LATER_HOOKS for caller in callers)


class _Draft:
    """A registry in the making, begun from another."""

    def __init__(self, registry: Registry) -> None:
        self.formats = dict(registry.formats)
        self.providers = dict(registry.providers)
        self.names = dict(registry.names)
        self.interceptors = registry.interceptors
        self.format_plugins = dict(registry.format_plugins)
        self.provider_plugins = dict(registry.provider_plugins)
        self.problems = list(registry.problems)
        self.credited: set[str] = set()
        """Plugins that brought something that stands."""
        self.refused: dict[str, str] = {}
        """Plugins, to the first reason why an answer of theirs was refused."""

    def add_formats(self, given: Iterable[tuple[str, WireFormat]]) -> None:
        for plugin, wire in given:
            label = _label("format", wire)
            if not self._is_sound(plugin, label, partial(format_faults, wire)):
                continue
            if wire.id in self.formats:
                holder = self.format_plugins[wire.id]
                self._refuse(plugin, f"{label} is refused: plugin {holder} already brings it")
                continue
            self.credited.add(plugin)
            self.formats[wire.id] = self._with_free_paths(plugin, wire)
            self.format_plugins[wire.id] = plugin

    def add_providers(self, given: Iterable[tuple[str, ProviderSpec]]) -> None:
        """Add all ids before any alias, so that no alias stands in the way of an id."""
        vendor_formats = {id for id, wire in self.formats.items() if wire.vendor is not None}
        added = []
        for plugin, spec in given:
            label = _label("provider", spec)
            if not self._is_sound(plugin, label, partial(provider_faults, spec, vendor_formats)):
                continue
            if spec.id in self.names:
                self._refuse(plugin, f"{label} is refused: {self._holder(spec.id)}")
                continue
            self.credited.add(plugin)
            note = partial(self._note, plugin, label)
            self.providers[spec.id] = mended(spec, vendor_formats, note)
            self.provider_plugins[spec.id] = plugin
            self.names[spec.id] = spec.id
            added.append(spec.id)
        for id in added:
            self._add_aliases(self.providers[id])

    def add_interceptors(self, given: Iterable[tuple[str, Interceptor]]) -> None:
        sound = [
            (plugin, interceptor)
            for plugin, interceptor in given
            if self._is_sound(plugin, "interceptor", partial(interceptor_faults, interceptor))
        ]
        self.credited.update(plugin for plugin, _ in sound)
        interceptors = (interceptor for _, interceptor in sound)
        self.interceptors = tuple(sorted(interceptors, key=attrgetter("order")))

    def freeze(self, plugins: Iterable[Plugin]) -> Registry:
        return Registry(
            formats=MappingProxyType(self.formats),
            providers=MappingProxyType(self.providers),
            names=MappingProxyType(self.names),
            interceptors=self.interceptors,
            format_plugins=MappingProxyType(self.format_plugins),
            provider_plugins=MappingProxyType(self.provider_plugins),
            plugins=tuple(plugins),
            problems=tuple(self.problems),
        )

    def _is_sound(self, plugin: str, label: str, check: Callable[[], list[str]]) -> bool:
        try:
            faults = check()
        except Exception as error:  # the answer's attributes may be the plugin's own code
            faults = [f"reading it raised {type(error).__name__}"]
        if faults:
            self._refuse(plugin, f"{label} is refused: {'; '.join(faults[:MOST_FAULTS])}")
        return not faults

    def _refuse(self, plugin: str, message: str) -> None:
        report(self.problems, Problem(plugin, message))
        self.refused.setdefault(plugin, message)

    def _note(self, plugin: str, label: str, message: str) -> None:
        report(self.problems, Problem(plugin, f"{label}: {message}"))

    def _holder(self, name: str) -> str:
        provider = self.names[name]
        plugin = self.provider_plugins[provider]
        return f"{name!r} already stands for provider {provider!r} of plugin {plugin}"

    def _add_aliases(self, spec: ProviderSpec) -> None:
        """Give the provider its further names, without those that are taken."""
        plugin, label, taken = self.provider_plugins[spec.id], _label("provider", spec), set()
        for alias in (spec.alias, *spec.aliases):
            if alias is not None and self.names.setdefault(alias, spec.id) != spec.id:
                taken.add(alias)
                self._note(plugin, label, f"the alias is left out: {self._holder(alias)}")
        if taken:
            self.providers[spec.id] = replace(
                spec,
                alias=None if spec.alias in taken else spec.alias,
                aliases=tuple(alias for alias in spec.aliases if alias not in taken),
            )

    def _with_free_paths(self, plugin: str, wire: WireFormat) -> WireFormat:
        """The format without the endpoints whose path another format serves."""
        held = {e.path: id for id, other in self.formats.items() for e in other.endpoints}
        free = tuple(endpoint for endpoint in wire.endpoints if endpoint.path not in held)
        for path in sorted({endpoint.path for endpoint in wire.endpoints} & held.keys()):
            holder = f"format {held[path]!r} of plugin {self.format_plugins[held[path]]}"
            self._note(plugin, _label("format", wire), f"the path {path} is served by {holder}")
        return wire if len(free) == len(wire.endpoints) else replace(wire, endpoints=free)


def _label(kind: str, answer: object) -> str:
    if isinstance(answer, WireFormat | ProviderSpec):
        return f"{kind} {answer.id!r}"
    return kind
