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
"""Seconds one plugin may take to be imported."""


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
    for each import, in seconds; ``clock`` counts seconds.
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
    with LoadGuard(limit) as guard:
        for plugin in candidates:
            # What an operator has switched off is neither compared with the lock nor reported.
            if plugin.name in blocked:
                record = _record(plugin, State.BLOCKED)
            elif allowed and plugin.name not in allowed:
                record = _record(plugin, State.UNLISTED)
            elif plugin.name in disabled:
                record = _record(plugin, State.DISABLED)
            else:
                record = _refuse(plugin, watch, plugins, problems) or _import(
                    plugin, manager, guard, problems, clock
                )
            plugins.append(record)
    return Loaded(manager, tuple(plugins), tuple(problems))


class _Manager(pluggy.PluginManager):
    """Keeps plugins in the order they were loaded in, whatever their hooks ask for."""

    def __init__(self) -> None:
        super().__init__(hookspecs.hookspec.project_name)
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        options = super().parse_hookimpl_opts(plugin, name)
        if options is not None:
            options["tryfirst"] = options["trylast"] = False
        return options


def _record(
    discovered: Found,
    state: State,
    *,
    error: str | None = None,
    seconds: float = 0.0,
    protocol: int = protocols.UNSAID,
    hooks: tuple[str, ...] = (),
) -> Plugin:
    return Plugin(
        name=discovered.name,
        distribution=discovered.distribution,
        version=discovered.version,
        module=discovered.module,
        state=state,
        error=error,
        seconds=seconds,
        origin=discovered.origin,
        path=None if discovered.path is None else str(discovered.path),
        protocol=protocol,
        hooks=hooks,
    )


def _refuse(
    discovered: Found, watch: drift.Watch | None, earlier: Iterable[Plugin], problems: list[Problem]
) -> Plugin | None:
    """The record of a plugin that is not to be imported, after reporting why; else None."""
    reason = watch.objection(discovered) if watch else None
    if reason is not None:
        report(problems, Problem(discovered.name, f"is not loaded: {reason}", advice=drift.ADVICE))
        return _record(discovered, State.LOCKED, error=reason)
    # One that the lock refuses leaves its name to the next that has it.
    held = (other for other in earlier if other.state is not State.LOCKED)
    other = next((other for other in held if other.name == discovered.name), None)
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


def _import(
    discovered: Found,
    manager: pluggy.PluginManager,
    guard: LoadGuard,
    problems: list[Problem],
    clock: Callable[[], float],
) -> Plugin:
    start = clock()
    try:
        plugin = guard.run(discovered.load)
        seconds = clock() - start
        protocol, hooks, notes = guard.run(partial(_register, manager, plugin, discovered.name))
    except PluginFailed as failure:
        manager.unregister(name=discovered.name)
        report_failure(problems, discovered.name, "could not be loaded", failure, failure.place)
        return _record(discovered, State.FAILED, error=failure.reason, seconds=clock() - start)
    for note in notes:
        report(problems, Problem(discovered.name, note))
    return _record(discovered, State.LOADED, seconds=seconds, protocol=protocol, hooks=hooks)


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
