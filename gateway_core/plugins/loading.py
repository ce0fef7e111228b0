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
    note = partial(_note, problems)
    found = sources.find(note, extra=extra, folder=folder, entry_points=entry_points)
    _check_allowed(allowed, found, problems)
    disabled = _disabled(folder, problems)
    watch = _lock(folder if entry_points else None, found, problems)
    plugins: list[Plugin] = []
    with LoadGuard(limit) as guard:
        for each in found:
            plugins.append(
                _unwanted(each, allowed, blocked, disabled)
                or _locked(each, watch, problems)
                or _doubled(each, plugins, problems)
                or _faulty(each, problems)
                or _loaded(each, manager, guard, problems, clock)
            )
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


def _note(problems: list[Problem], name: str, message: str) -> None:
    report(problems, Problem(name, message))


def _check_allowed(
    allowed: frozenset[str], found: Iterable[Found], problems: list[Problem]
) -> None:
    for name in sorted(allowed - {each.name for each in found}):
        advice = "Install it, or take its name out of GATEWAY_LOAD_PLUGINS."
        report(problems, Problem(name, "is on the allow list but not installed", advice=advice))


def _disabled(folder: PluginFolder | None, problems: list[Problem]) -> frozenset[str]:
    """The names that are switched off; none where that cannot be read."""
    try:
        return switches.disabled(folder) if folder else frozenset()
    except FileDamaged as error:
        advice = "Mend or remove the file; until then no plugin counts as switched off."
        report(problems, Problem("disabled", str(error), advice=advice))
        return frozenset()


def _record(
    found: Found,
    state: State,
    *,
    error: str | None = None,
    seconds: float = 0.0,
    protocol: int = protocols.UNSAID,
    hooks: tuple[str, ...] = (),
) -> Plugin:
    return Plugin(
        name=found.name,
        distribution=found.distribution,
        version=found.version,
        module=found.module,
        state=state,
        error=error,
        seconds=seconds,
        origin=found.origin,
        path=None if found.path is None else str(found.path),
        protocol=protocol,
        hooks=hooks,
    )


def _unwanted(
    found: Found, allowed: frozenset[str], blocked: frozenset[str], disabled: frozenset[str]
) -> Plugin | None:
    if found.name in blocked:
        return _record(found, State.BLOCKED)
    if allowed and found.name not in allowed:
        return _record(found, State.UNLISTED)
    return _record(found, State.DISABLED) if found.name in disabled else None


def _lock(
    folder: PluginFolder | None, found: Iterable[Found], problems: list[Problem]
) -> drift.Watch | None:
    """What compares with the plugin lock, where it is on."""
    watch = drift.watch(folder, found)
    for each in watch.others() if watch else ():
        report(problems, Problem(each.plugin, each.detail, fatal=each.bad, advice=drift.ADVICE))
    return watch


def _locked(found: Found, watch: drift.Watch | None, problems: list[Problem]) -> Plugin | None:
    reason = watch.objection(found) if watch else None
    if reason is None:
        return None
    report(problems, Problem(found.name, f"is not loaded: {reason}", advice=drift.ADVICE))
    return _record(found, State.LOCKED, error=reason)


def _doubled(found: Found, earlier: Iterable[Plugin], problems: list[Problem]) -> Plugin | None:
    held = (other for other in earlier if other.state is not State.LOCKED)
    other = next((other for other in held if other.name == found.name), None)
    if other is None:
        return None
    error = f"its name is taken by {_called(other)}"
    message = f"{_called(found)} is not loaded: {error}"
    report(
        problems, Problem(found.name, message, advice="Keep one of the two: uninstall the other.")
    )
    return _record(found, State.FAILED, error=error)


def _called(plugin: Found | Plugin) -> str:
    if plugin.origin is Origin.FILE:
        return str(plugin.path)
    return plugin.distribution or "a plugin that was handed over"


def _faulty(found: Found, problems: list[Problem]) -> Plugin | None:
    if found.fault is None:
        return None
    message = f"could not be loaded: {found.fault}"
    report(problems, Problem(found.name, message, fatal=True, advice=UNTIL_MENDED))
    return _record(found, State.FAILED, error=found.fault)


def _loaded(
    found: Found,
    manager: pluggy.PluginManager,
    guard: LoadGuard,
    problems: list[Problem],
    clock: Callable[[], float],
) -> Plugin:
    start = clock()
    try:
        plugin = guard.run(found.load)
        seconds = clock() - start
        protocol, hooks, notes = guard.run(partial(_register, manager, plugin, found.name))
    except PluginFailed as failure:
        manager.unregister(name=found.name)
        report_failure(problems, found.name, "could not be loaded", failure, failure.place)
        return _record(found, State.FAILED, error=failure.reason, seconds=clock() - start)
    for note in notes:
        report(problems, Problem(found.name, note))
    return _record(found, State.LOADED, seconds=seconds, protocol=protocol, hooks=hooks)


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
    return protocol, hooks, [*_unknown(callers, name), *notes]


def _unknown(callers: Iterable[pluggy.HookCaller], plugin: str) -> list[str]:
    return [
        f"there is no hook {caller.name}{_alike(caller.name)}"
        for caller in callers
        if not caller.has_spec() and not all(impl.optionalhook for impl in _own([caller], plugin))
    ]


def _alike(hook: str) -> str:
    known = [name for name in vars(hookspecs) if not name.startswith("_")]
    near = get_close_matches(hook, known, n=1, cutoff=0.8)
    return f"; is {near[0]} meant?" if near else ""


def _own(callers: Iterable[pluggy.HookCaller], plugin: str) -> Iterator[pluggy.HookImpl]:
    for caller in callers:
        yield from (impl for impl in caller.get_hookimpls() if impl.plugin_name == plugin)
