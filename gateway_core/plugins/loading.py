"""Loading plugins. One broken plugin is a recorded problem, never a dead gateway.

A plugin is an entry point of the group ``model_gateway``, a file in the data
directory, or an object that is handed over. Each that is found ends in one of
these states:

    found ──▶ blocked
          ──▶ not on the allow list
          ──▶ disabled
          ──▶ refused by the lock
          ──▶ imported ──▶ loaded
                       ──▶ failed

Plugins are imported, and asked later, in the order that ``sources`` gives, whatever
order they were installed in. Nothing is kept at module level, so one process
may load any number of times. Do not load while a module is being imported: a
plugin that imports the same module would wait for it in vain.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy

from .. import hookspecs
from . import drift, sources, switches
from . import protocol as protocols
from .discovery import Found, Origin
from .files import FileDamaged, PluginFolder
from .guard import LoadGuard, PluginFailed
from .records import Loaded, Plugin, Problem, State, report, report_failure

UNTIL_MENDED = "Nothing of it is run until that is mended."
IMPORT_LIMIT = 10.0
"""Seconds one plugin may take to be imported, and for each of its hooks."""


def load(
    *,
    allowed: frozenset[str] = frozenset(),
    blocked: frozenset[str] = frozenset(),
    extra: Mapping[str, object] = {},
    entry_points: bool = True,
    folder: PluginFolder | None = None,
    limit: float = IMPORT_LIMIT,
    clock: Callable[[], float] = time.perf_counter,
) -> Loaded:
    """Load every plugin that is not blocked and, unless ``allowed`` is empty, is on that list.

    ``extra`` holds modules or other objects by name; they win over others of
    the same name. ``entry_points=False`` leaves alone what is installed and
    what stands in ``folder``, the plugins of the data directory. ``limit`` is
    for each import and hook, in seconds, until some hang; ``clock`` counts seconds.
    """
    manager, problems = _Manager(), list[Problem]()
    candidates = sources.find(
        lambda name, message: report(problems, Problem(name, message)),
        extra=extra,
        folder=folder,
        entry_points=entry_points,
    )
    for name in sorted(allowed - {each.name for each in candidates}):
        advice = "Install it, or take its name out of GATEWAY_LOAD_PLUGINS."
        report(problems, Problem(name, "is on the allow list but not installed", advice=advice))
    disabled = frozenset[str]()
    try:
        disabled = switches.disabled(folder) if folder else disabled
    except FileDamaged as error:
        advice = "Mend or remove the file; until then no plugin counts as switched off."
        report(problems, Problem("disabled", str(error), advice=advice))
    watch = drift.watch(folder if entry_points else None, candidates)
    for each in watch.others() if watch else ():
        report(problems, Problem(each.plugin, each.detail, fatal=each.bad, advice=drift.ADVICE))
    plugins: list[Plugin] = []
    holders: dict[str, Plugin] = {}
    wanted: dict[int, Found] = {}
    for plugin in candidates:
        # What an operator has switched off is neither compared with the lock nor reported.
        if plugin.name in blocked:
            record = _record(plugin, State.BLOCKED)
        elif allowed and plugin.name not in allowed:
            record = _record(plugin, State.UNLISTED)
        elif plugin.name in disabled:
            record = _record(plugin, State.DISABLED)
        elif (refused := _refuse(plugin, watch, holders, problems)) is not None:
            record = refused
        else:
            wanted[len(plugins)] = plugin
            record = _record(plugin, State.LOADED)
        plugins.append(record)
        # One that the lock refuses leaves its name to the next that has it.
        if record.state is not State.LOCKED:
            holders.setdefault(record.name, record)
    with LoadGuard(limit) as guard:
        imported = list(_import_all(wanted.values(), manager, guard, problems, clock))
    for place, record in zip(wanted, imported, strict=True):
        plugins[place] = record
    return Loaded(manager, tuple(plugins), tuple(problems), guard)


_HOOKS = (FunctionType, MethodType, staticmethod, classmethod)
"""What pluggy takes for the implementation of a hook."""


class _Manager(pluggy.PluginManager):
    """Keeps plugins in the order they were loaded in, whatever their hooks ask for."""

    def __init__(self) -> None:
        super().__init__(hookspecs.hookspec.project_name)
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        # Most names of a module stand for no function, and pluggy searches for each at length.
        if type(plugin) is ModuleType and not isinstance(vars(plugin).get(name), _HOOKS):
            return None
        options = super().parse_hookimpl_opts(plugin, name)
        if options is not None:
            options["tryfirst"] = options["trylast"] = False
        return options


def _record(discovered: Found, state: State, **more: Any) -> Plugin:
    """``more`` is what is known of it besides."""
    return Plugin(
        name=discovered.name,
        distribution=discovered.distribution,
        version=discovered.version,
        module=discovered.module,
        state=state,
        origin=discovered.origin,
        path=None if discovered.path is None else str(discovered.path),
        **more,
    )


def _refuse(
    discovered: Found,
    watch: drift.Watch | None,
    holders: Mapping[str, Plugin],
    problems: list[Problem],
) -> Plugin | None:
    """The record of a plugin that is not to be imported, after reporting why; else None."""
    reason = watch.objection(discovered) if watch else None
    if reason is not None:
        report(problems, Problem(discovered.name, f"is not loaded: {reason}", advice=drift.ADVICE))
        return _record(discovered, State.LOCKED, error=reason)
    other = holders.get(discovered.name)
    if other is not None:
        error = f"its name is taken by {_describe(other)}"
        message = f"{_describe(discovered)} is not loaded: {error}"
        advice = "Keep one of the two: uninstall the other."
        report(problems, Problem(discovered.name, message, advice=advice))
        return _record(discovered, State.FAILED, error=error)
    if discovered.fault is not None:
        message = f"could not be loaded: {discovered.fault}"
        report(problems, Problem(discovered.name, message, fatal=True, advice=UNTIL_MENDED))
        return _record(discovered, State.FAILED, error=discovered.fault)
    return None


def _describe(plugin: Found | Plugin) -> str:
    if plugin.origin is Origin.FILE:
        return str(plugin.path)
    return plugin.distribution or "a plugin that was handed over"


def _import_all(
    found: Iterable[Found],
    manager: pluggy.PluginManager,
    guard: LoadGuard,
    problems: list[Problem],
    clock: Callable[[], float],
) -> Iterator[Plugin]:
    """The record of each, whose limits run side by side; their hooks are taken in order."""
    imports = [_Import(each, clock) for each in found]
    modules = guard.run_all(imports)
    registrations = [
        partial(_register, manager, module, each.found.name)
        for each, module in zip(imports, modules, strict=True)
        if not isinstance(module, PluginFailed)
    ]
    taken = iter(guard.run_all(registrations, in_turn=True))
    for each, module in zip(imports, modules, strict=True):
        name = each.found.name
        entry = module if isinstance(module, PluginFailed) else next(taken)
        if isinstance(entry, PluginFailed):
            manager.unregister(name=name)
            report_failure(problems, name, "could not be loaded", entry, entry.place)
            yield _record(each.found, State.FAILED, error=entry.reason, seconds=each.seconds)
            continue
        protocol, hooks, notes = entry
        for note in notes:
            report(problems, Problem(name, note))
        yield _record(
            each.found, State.LOADED, seconds=each.seconds, protocol=protocol, hooks=hooks
        )


class _Import:
    """Imports one plugin, and knows how long that takes."""

    def __init__(self, found: Found, clock: Callable[[], float]) -> None:
        self.found = found
        self._clock = clock
        self._start = self._end = 0.0

    def __call__(self) -> object:
        self._start = self._clock()
        try:
            return self.found.load()
        finally:
            self._end = self._clock()

    @property
    def seconds(self) -> float:
        """Until now, while it is not over."""
        return (self._end or self._clock()) - self._start


def _register(
    manager: pluggy.PluginManager, plugin: object, name: str
) -> tuple[int, tuple[str, ...], list[str]]:
    """Give the manager the plugin's hooks.

    Gives the protocol it speaks, the names of its hooks, and what looks wrong about them.
    Raises PluginValidationError for a hook with arguments that do not exist, ProtocolMismatch
    for a protocol that is not spoken here.
    """
    protocol = protocols.protocol_of(plugin)
    twin = manager.get_name(plugin)
    if twin is not None:
        raise ValueError(f"it is the same module as plugin {twin}")
    manager.register(plugin, name)
    callers = manager.get_hookcallers(plugin) or []
    if not callers:
        return protocol, (), ["implements no hook; is @hookimpl missing?"]
    if any(impl.wrapper or impl.hookwrapper for impl in _own(callers, name)):
        raise ValueError("hook wrappers are not supported")
    hooks = tuple(sorted(caller.name for caller in callers if caller.has_spec()))
    taken = {each.name: i.argnames for each in callers for i in _own([each], name)}
    notes = protocols.remarks(protocol, taken)
    unknown = []
    known = [hook for hook in vars(hookspecs) if not hook.startswith("_")]
    for caller in callers:
        if not caller.has_spec() and not all(i.optionalhook for i in _own([caller], name)):
            near = get_close_matches(caller.name, known, n=1, cutoff=0.8)
            hint = f"; is {near[0]} meant?" if near else ""
            unknown.append(f"there is no hook {caller.name}{hint}")
    return protocol, hooks, [*unknown, *notes]


def _own(callers: Iterable[pluggy.HookCaller], plugin: str) -> Iterator[pluggy.HookImpl]:
    for caller in callers:
        yield from (impl for impl in caller.get_hookimpls() if impl.plugin_name == plugin)
