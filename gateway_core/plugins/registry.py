"""What is installed, frozen. After start-up every question is one look-up.

Of two answers that claim one name the first stays, and the problem that is
recorded names both plugins. What was handed over and what comes with the
gateway goes first, then the others in the order of loading. Ids go before
aliases: no alias takes a name that is some provider's id.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import pluggy
from msgspec import Struct
from msgspec.structs import replace

from ..contracts.answer_filter import AnswerFilter
from ..contracts.file_contents import FileContents
from ..contracts.interceptor import Interceptor
from ..contracts.observation import Observation
from ..contracts.provider import ProviderSpec
from ..contracts.server import ServerSpec
from ..contracts.shared_state import SharedState
from ..contracts.wire import WireFormat
from . import (
    Loaded,
    Plugin,
    PluginSettings,
    Problem,
    State,
    answers,
    report,
    settings_of,
)
from .claims import is_reserved, without_lost_variables
from .trust import has_precedence
from .validation import (
    contract_faults,
    format_faults,
    mended,
    provider_faults,
    server_faults,
)

Ordered = TypeVar("Ordered", Interceptor, AnswerFilter)
"""What stands in an order."""
EARLY_HOOKS = (
    "register_formats",
    "register_providers",
    "register_interceptors",
    "register_answer_filters",
    "register_observation",
    "register_servers",
    "register_shared_state",
    "register_file_contents",
)
LATER_HOOKS = frozenset({"register_routes", "lifespan", "listening", "register_commands"})
"""Asked by others, once the registry stands."""
MOST_FAULTS = 5
"""How many faults of one answer are reported."""
T = TypeVar("T")
Only = tuple[T | None, str]
RUNTIME = "runtime"
"""Stands for a plugin where a provider was added while the gateway runs."""
RUNTIME_ONLY = frozenset({RUNTIME})
KEPT = (
    "this id belongs to a plugin that comes with the gateway; "
    "GATEWAY_TRUST_PLUGINS lets another stand in for it"
)


class Registry(Struct, frozen=True, kw_only=True):
    """Everything the plugins brought. The mappings cannot be written to."""

    formats: Mapping[str, WireFormat] = MappingProxyType({})
    providers: Mapping[str, ProviderSpec] = MappingProxyType({})
    names: Mapping[str, str] = MappingProxyType({})
    """Every id and alias, to the provider's id."""
    interceptors: tuple[Interceptor, ...] = ()
    """In the order they stand on the path."""
    interceptor_plugins: tuple[str, ...] = ()
    """Which plugin brought each of them."""
    answer_filters: tuple[tuple[str, AnswerFilter], ...] = ()
    """In the order in which they look at answers, each with its plugin."""
    observation: Observation | None = None
    """What follows every request."""
    observation_plugin: str = ""
    servers: Mapping[str, ServerSpec] = MappingProxyType({})
    """Servers by name, the one that serves by default first."""
    server_plugins: Mapping[str, str] = MappingProxyType({})
    """Which plugin brought a server."""
    format_plugins: Mapping[str, str] = MappingProxyType({})
    """Which plugin brought a format."""
    provider_plugins: Mapping[str, str] = MappingProxyType({})
    """Which plugin brought a provider; ``runtime`` for one that was added later."""
    shared_state: SharedState | None = None
    """What several gateways that serve as one have in common."""
    shared_state_plugin: str = ""
    file_contents: FileContents | None = None
    """Where contents of clients' files are; ``None`` is a folder."""
    plugins: tuple[Plugin, ...] = ()
    problems: tuple[Problem, ...] = ()


_FIELDS = frozenset(Registry.__struct_fields__)


def build(
    loaded: Loaded,
    settings: PluginSettings | None = None,
    *,
    trusted: frozenset[str] = frozenset(),
) -> Registry:
    """Ask every plugin once and keep the answers that are sound.

    A plugin one of whose hooks fails is switched off as a whole: none of its
    answers counts and its other hooks are taken out of ``loaded.manager``.
    ``settings`` are those of the plugins; without them the defaults count.
    ``trusted`` names plugins that may stand in for those of the gateway.
    """
    settings = settings or settings_of(loaded)
    draft = _Draft(Registry(problems=(*loaded.problems, *settings.problems)))
    replies = _ask(loaded, draft.problems, settings)
    first = frozenset(plugin.name for plugin in loaded.plugins if has_precedence(plugin)) | trusted
    draft.add_formats(_in_order(replies["register_formats"], first))
    draft.add_providers(_in_order(replies["register_providers"], first), first)
    draft.settle_variables(first)
    draft.add_interceptors(replies["register_interceptors"])
    filters = replies["register_answer_filters"]
    draft.answer_filters = tuple(draft.by_order("answer filter", AnswerFilter, filters))
    # Observation makes the runs of requests, which hold everything of the gateway.
    draft.observation, draft.observation_plugin = draft.only(
        Observation, "observation", replies["register_observation"], among=first
    )
    draft.add_servers(_in_order(replies["register_servers"], first))
    states = _in_order(replies["register_shared_state"], first)
    draft.shared_state, draft.shared_state_plugin = draft.only(SharedState, "shared state", states)
    contents = _in_order(replies["register_file_contents"], first)
    draft.file_contents, _ = draft.only(FileContents, "the place of files", contents)
    return draft.freeze(_conclude(plugin, loaded.manager, draft) for plugin in loaded.plugins)


def with_providers(registry: Registry, specs: Iterable[ProviderSpec]) -> Registry:
    """The registry with providers added that no plugin brings, such as an operator's own nodes.

    Whoever is there keeps its names. A provider that is not sound is recorded
    as a problem, like a plugin's. Costs one copy of the tables.
    """
    draft = _Draft(registry)
    draft.add_providers((RUNTIME, spec) for spec in specs)
    return draft.freeze(registry.plugins)


def with_problems(registry: Registry, problems: Iterable[Problem]) -> Registry:
    """The registry with what went wrong later; a plugin whose code failed counts as failed."""
    later = tuple(problems)
    errors = {problem.plugin: problem.message for problem in later if problem.fatal}
    plugins = (
        replace(plugin, state=State.FAILED, error=errors[plugin.name])
        if plugin.name in errors and plugin.state is State.LOADED
        else plugin
        for plugin in registry.plugins
    )
    return replace(registry, plugins=tuple(plugins), problems=(*registry.problems, *later))


def _in_order(replies: Iterable[tuple[str, Any]], first: frozenset[str]) -> list[tuple[str, Any]]:
    return sorted(replies, key=lambda answer: answer[0] not in first)


def _ask(
    loaded: Loaded, problems: list[Problem], settings: PluginSettings
) -> dict[str, list[tuple[str, Any]]]:
    by_hook, manager = {}, loaded.manager
    _take_out_failed(manager, problems)
    for name in EARLY_HOOKS:
        hook = getattr(manager.hook, name)
        by_hook[name] = answers(hook, problems, settings.given, guard=loaded.guard)
        _take_out_failed(manager, problems)
    failed = _failed(problems)
    return {
        name: [(plugin, answer) for plugin, answer in replies if plugin not in failed]
        for name, replies in by_hook.items()
    }


def _take_out_failed(manager: pluggy.PluginManager, problems: Iterable[Problem]) -> None:
    for plugin in _failed(problems):
        manager.unregister(name=plugin)


def _failed(problems: Iterable[Problem]) -> set[str]:
    return {problem.plugin for problem in problems if problem.fatal}


def _conclude(plugin: Plugin, manager: pluggy.PluginManager, draft: "_Draft") -> Plugin:
    """The plugin's record once its answers are known."""
    if plugin.state is not State.LOADED:
        return plugin
    error = next((p.message for p in draft.problems if p.fatal and p.plugin == plugin.name), None)
    if error is None and plugin.name not in draft.credited:
        callers = manager.get_hookcallers(manager.get_plugin(plugin.name)) or []
        if not any(caller.name in LATER_HOOKS for caller in callers):
            error = draft.refused.get(plugin.name)
    return plugin if error is None else replace(plugin, state=State.FAILED, error=error)


class _Draft:
    """A registry in the making, begun from another."""

    def __init__(self, registry: Registry) -> None:
        self.formats = dict(registry.formats)
        self.providers = dict(registry.providers)
        self.names = dict(registry.names)
        self.beginnings = {b: spec.id for spec in self.providers.values() for b in spec.beginnings}
        self.interceptors = registry.interceptors
        self.interceptor_plugins = registry.interceptor_plugins
        self.answer_filters = registry.answer_filters
        self.observation = registry.observation
        self.observation_plugin = registry.observation_plugin
        self.servers, self.server_plugins = dict(registry.servers), dict(registry.server_plugins)
        self.shared_state = registry.shared_state
        self.shared_state_plugin = registry.shared_state_plugin
        self.file_contents = registry.file_contents
        self.format_plugins = dict(registry.format_plugins)
        self.provider_plugins = dict(registry.provider_plugins)
        self.problems = list(registry.problems)
        self.credited: set[str] = set()
        """Plugins that brought something that stands."""
        self.refused: dict[str, str] = {}
        """Plugins, to the first reason why an answer of theirs was refused."""

    def add_formats(self, answers: Iterable[tuple[str, WireFormat]]) -> None:
        for plugin, wire in answers:
            label = _label("format", wire)
            if not self._is_sound(plugin, label, partial(format_faults, wire)):
                continue
            if wire.id in self.formats:
                holder = self.format_plugins[wire.id]
                self._refuse(plugin, f"{label} is refused: plugin {holder} already brings it")
                continue
            self.credited.add(plugin)
            held = {e.path: id for id, other in self.formats.items() for e in other.endpoints}
            free = tuple(endpoint for endpoint in wire.endpoints if endpoint.path not in held)
            for path in sorted({endpoint.path for endpoint in wire.endpoints} & held.keys()):
                holder = f"format {held[path]!r} of plugin {self.format_plugins[held[path]]}"
                self._note(plugin, label, f"the path {path} is served by {holder}")
            is_whole = len(free) == len(wire.endpoints)
            self.formats[wire.id] = wire if is_whole else replace(wire, endpoints=free)
            self.format_plugins[wire.id] = plugin

    def add_providers(
        self, answers: Iterable[tuple[str, ProviderSpec]], first: frozenset[str] = RUNTIME_ONLY
    ) -> None:
        """Add all ids before any alias, so that no alias stands in the way of an id.

        Plugins that are not among the ``first`` get no id of a vendor that comes with the gateway.
        """
        vendor_formats = {id for id, wire in self.formats.items() if wire.vendor is not None}
        added = []
        for plugin, spec in answers:
            label = _label("provider", spec)
            if not self._is_sound(plugin, label, partial(provider_faults, spec, vendor_formats)):
                continue
            if spec.id in self.names:
                self._refuse(plugin, f"{label} is refused: {self._holder(spec.id)}")
                continue
            if is_reserved(spec.id, plugin, first):
                self._refuse(plugin, f"{label} is refused: {KEPT}")
                continue
            self.credited.add(plugin)
            note = partial(self._note, plugin, label)
            self.providers[spec.id] = sealed(mended(spec, vendor_formats, note))
            self.provider_plugins[spec.id] = plugin
            self.names[spec.id] = spec.id
            added.append(spec.id)
        for id in added:
            spec = self.providers[id]
            plugin, label = self.provider_plugins[spec.id], _label("provider", spec)
            taken, free = set[str](), list[str]()
            for alias in (spec.alias, *spec.aliases):
                if alias is not None and self.names.setdefault(alias, spec.id) != spec.id:
                    taken.add(alias)
                    self._note(plugin, label, f"the alias is left out: {self._holder(alias)}")
            for beginning in spec.beginnings:
                holder = self.beginnings.setdefault(beginning, spec.id)
                if holder == spec.id:
                    free.append(beginning)
                else:
                    message = f"models that begin with {beginning!r} belong to provider {holder!r}"
                    self._note(plugin, label, message)
            if taken or len(free) < len(spec.beginnings):
                self.providers[spec.id] = replace(
                    spec,
                    alias=None if spec.alias in taken else spec.alias,
                    aliases=tuple(alias for alias in spec.aliases if alias not in taken),
                    beginnings=tuple(free),
                )

    def settle_variables(self, first: frozenset[str]) -> None:
        """Take variables from providers that have no right to them."""

        def note(plugin: str, message: str) -> None:
            report(self.problems, Problem(plugin, message))

        for spec in list(
            without_lost_variables(self.providers, self.provider_plugins, first, note)
        ):
            self.providers[spec.id] = sealed(spec)

    def add_interceptors(self, answers: Iterable[tuple[str, Interceptor]]) -> None:
        sound = self.by_order("interceptor", Interceptor, answers)
        self.interceptors = tuple(interceptor for _, interceptor in sound)
        self.interceptor_plugins = tuple(plugin for plugin, _ in sound)

    def add_servers(self, answers: Iterable[tuple[str, ServerSpec]]) -> None:
        for plugin, server in answers:
            if not self._is_sound(plugin, "server", partial(server_faults, server)):
                continue
            if server.name in self.servers:
                holder = self.server_plugins[server.name]
                label = f"server {server.name!r}"
                self._refuse(plugin, f"{label} is refused: plugin {holder} already brings it")
                continue
            self.credited.add(plugin)
            self.servers[server.name] = server
            self.server_plugins[server.name] = plugin

    def only(
        self,
        protocol: type[T],
        label: str,
        answers: Iterable[tuple[str, T]],
        *,
        among: frozenset[str] | None = None,
    ) -> Only[T]:
        """The first sound answer and its plugin, where a gateway uses one of those ``among``."""
        kept: Only[T] = None, ""
        for plugin, value in answers:
            if among is not None and plugin not in among:
                self._refuse(plugin, f"{label} is refused: the plugin is not trusted")
                continue
            if not self._is_sound(plugin, label, partial(contract_faults, protocol, value)):
                continue
            if kept[0] is not None:
                self._refuse(plugin, f"{label} is refused: plugin {kept[1]} already brings it")
                continue
            self.credited.add(plugin)
            kept = value, plugin
        return kept

    def freeze(self, plugins: Iterable[Plugin]) -> Registry:
        kept = {name: each for name, each in vars(self).items() if name in _FIELDS}
        tables = {name: MappingProxyType(each) for name, each in kept.items() if type(each) is dict}
        final = {"plugins": tuple(plugins), "problems": tuple(self.problems)}
        return Registry(**{**kept, **tables, **final})

    def by_order(
        self, label: str, contract: Any, answers: Iterable[tuple[str, Ordered]]
    ) -> list[tuple[str, Ordered]]:
        """The sound ones of what stands in an order."""
        sound: list[tuple[int, str, Ordered]] = []
        for plugin, each in answers:
            if self._is_sound(plugin, label, partial(_placed, sound, plugin, each, contract)):
                self.credited.add(plugin)
        return [(plugin, each) for _, plugin, each in sorted(sound, key=lambda one: one[0])]

    def _is_sound(self, plugin: str, label: str, check: Callable[[], list[str]]) -> bool:
        try:
            faults = check()
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            # The answer's attributes may be the plugin's own code.
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


def sealed(spec: ProviderSpec) -> ProviderSpec:
    """A copy that does not change with the plugin's own mappings, most of them read-only."""
    names = ("other_formats", "environment_data", "rename", "fixed", "options")
    fixed = {name: MappingProxyType(dict(getattr(spec, name))) for name in names}
    # Spread into every request, which takes three times as long from a proxy.
    return replace(spec, headers=dict(spec.headers), **fixed)


def _placed(
    sound: list[tuple[int, str, Ordered]], plugin: str, each: Ordered, contract: Any
) -> list[str]:
    """Put one to the others with its order, unless it has faults, which this gives."""
    faults = contract_faults(contract, each)
    if not faults:
        sound.append((int(each.order), plugin, each))
    return faults


def _label(kind: str, answer: object) -> str:
    # By its type, because an object of a plugin's may fail when it is asked for its class.
    if issubclass(type(answer), WireFormat | ProviderSpec):
        return f"{kind} {getattr(answer, 'id', '')!r}"
    return kind
