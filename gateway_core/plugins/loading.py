"""Finding plugins and asking them. One broken plugin is a recorded problem, never a dead gateway.

A plugin is an entry point of the group ``model_gateway``, or an object that
is handed over directly. Each that is found ends in one of four states:

    found ──▶ blocked
          ──▶ not on the allow list
          ──▶ imported ──▶ loaded
                       ──▶ failed

Plugins are imported and asked in the order of their names, whatever order
they were installed in. Nothing is kept at module level, so one process may
load any number of times. Do not load while a module is being imported: a
plugin that imports the same module would wait for it in vain.
"""

import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any

import pluggy
from msgspec import Struct

from .. import hookspecs
from .discovery import Found, handed_over, installed
from .guard import Guard, PluginFailed

IMPORT_LIMIT = 10.0
"""Seconds one plugin may take to be imported."""
HOOK_LIMIT = 5.0
"""Seconds one implementation of a hook may take."""
MOST_ANSWERS = 10_000
"""How many answers one implementation may give; a plugin must not fill the memory."""

log = logging.getLogger(__name__)


class State(StrEnum):
    """What became of a plugin that was found."""

    BLOCKED = "blocked"
    UNLISTED = "not on the allow list"
    LOADED = "loaded"
    FAILED = "failed"


class Plugin(Struct, frozen=True, kw_only=True):
    """The record of one plugin that was found."""

    name: str
    """The entry point's name, which is what the allow and block lists hold."""
    distribution: str | None = None
    """The installed package that brings it; ``None`` when it was handed over directly."""
    version: str | None = None
    module: str
    state: State
    error: str | None = None
    """Why it failed, in one line."""
    seconds: float = 0.0
    """How long its import took."""


class Problem(Struct, frozen=True):
    """Something a plugin did wrong, for the log, the operator's page and ``doctor``."""

    plugin: str
    message: str
    fatal: bool = False
    """True when the plugin's own code failed, so that nothing it says counts."""


class Loaded(Struct, frozen=True):
    """One load: the hooks to call, and what became of every plugin that was found."""

    manager: pluggy.PluginManager
    plugins: tuple[Plugin, ...]
    problems: tuple[Problem, ...]


def load(
    *,
    allowed: frozenset[str] = frozenset(),
    blocked: frozenset[str] = frozenset(),
    extra: Mapping[str, object] = {},
    entry_points: bool = True,
    limit: float = IMPORT_LIMIT,
    clock: Callable[[], float] = time.perf_counter,
) -> Loaded:
    """Load every plugin that is not blocked and, unless ``allowed`` is empty, is on that list.

    ``extra`` holds modules or other objects by name; they win over installed
    plugins of the same name. ``entry_points=False`` leaves what is installed
    alone. ``limit`` is for each import, in seconds; ``clock`` counts seconds.
    """
    manager = pluggy.PluginManager(hookspecs.hookspec.project_name)
    manager.add_hookspecs(hookspecs)
    problems: list[Problem] = []
    found = [*handed_over(extra)]
    if entry_points:
        found += installed(lambda name, message: report(problems, Problem(name, message)))
    found.sort(key=lambda each: (each.name, each.distribution or ""))
    for name in sorted(allowed - {each.name for each in found}):
        report(problems, Problem(name, "is on the allow list but not installed"))
    plugins: list[Plugin] = []
    with Guard(limit) as guard:
        for each in found:
            plugins.append(
                _unwanted(each, allowed, blocked)
                or _doubled(each, plugins, problems)
                or _loaded(each, manager, guard, problems, clock)
            )
    return Loaded(manager, tuple(plugins), tuple(problems))


def report(problems: list[Problem], problem: Problem) -> None:
    """Keep a problem and log it."""
    log.warning("plugin %s: %s", problem.plugin, problem.message)
    problems.append(problem)


def answers(
    caller: pluggy.HookCaller,
    problems: list[Problem],
    given: Mapping[str, object] = {},
    *,
    limit: float = HOOK_LIMIT,
) -> list[tuple[str, Any]]:
    """Every member of what each implementation returns, with the plugin's name.

    For the hooks that return an iterable. An implementation that raises, tries
    to leave, takes longer than ``limit`` seconds or returns no iterable gives
    nothing but a fatal problem. ``given`` holds the hook's arguments.
    """
    told = _ask(caller, problems, given, limit, _members)
    return [(plugin, member) for plugin, members in told for member in members]


def replies(
    caller: pluggy.HookCaller,
    problems: list[Problem],
    given: Mapping[str, object] = {},
    *,
    limit: float = HOOK_LIMIT,
) -> list[tuple[str, Any]]:
    """What each implementation returns, as it is; guarded like :func:`answers`."""
    return list(_ask(caller, problems, given, limit, lambda reply: reply))


def _record(
    found: Found, state: State, *, error: str | None = None, seconds: float = 0.0
) -> Plugin:
    return Plugin(
        name=found.name,
        distribution=found.distribution,
        version=found.version,
        module=found.module,
        state=state,
        error=error,
        seconds=seconds,
    )


def _unwanted(found: Found, allowed: frozenset[str], blocked: frozenset[str]) -> Plugin | None:
    if found.name in blocked:
        return _record(found, State.BLOCKED)
    if allowed and found.name not in allowed:
        return _record(found, State.UNLISTED)
    return None


def _doubled(found: Found, earlier: Iterable[Plugin], problems: list[Problem]) -> Plugin | None:
    for other in earlier:
        if other.name == found.name:
            holder = other.distribution or "a plugin that was handed over"
            error = f"its name is taken by {holder}"
            report(problems, Problem(found.name, f"{found.distribution} is not loaded: {error}"))
            return _record(found, State.FAILED, error=error)
    return None


def _loaded(
    found: Found,
    manager: pluggy.PluginManager,
    guard: Guard,
    problems: list[Problem],
    clock: Callable[[], float],
) -> Plugin:
    start = clock()
    try:
        plugin = guard.run(found.load)
        seconds = clock() - start
        warnings = guard.run(partial(_register, manager, plugin, found.name))
    except PluginFailed as failure:
        manager.unregister(name=found.name)
        _blame(problems, found.name, "could not be loaded", failure)
        return _record(found, State.FAILED, error=failure.reason, seconds=clock() - start)
    for warning in warnings:
        report(problems, Problem(found.name, warning))
    return _record(found, State.LOADED, seconds=seconds)


def _register(manager: pluggy.PluginManager, plugin: object, name: str) -> list[str]:
    """Give the manager the plugin's hooks and say what looks wrong about them.

    Raises PluginValidationError for a hook with arguments that do not exist.
    """
    twin = manager.get_name(plugin)
    if twin is not None:
        raise ValueError(f"it is the same module as plugin {twin}")
    manager.register(plugin, name)
    callers = manager.get_hookcallers(plugin) or []
    if not callers:
        return ["implements no hook; is @hookimpl missing?"]
    if any(impl.wrapper or impl.hookwrapper for impl in _own(callers, name)):
        raise ValueError("hook wrappers are not supported")
    unknown = [caller for caller in callers if not caller.has_spec()]
    return [
        f"there is no hook {caller.name}"
        for caller in unknown
        if not all(impl.optionalhook for impl in _own([caller], name))
    ]


def _own(callers: Iterable[pluggy.HookCaller], plugin: str) -> Iterator[pluggy.HookImpl]:
    for caller in callers:
        yield from (impl for impl in caller.get_hookimpls() if impl.plugin_name == plugin)


def _ask(
    caller: pluggy.HookCaller,
    problems: list[Problem],
    given: Mapping[str, object],
    limit: float,
    shape: Callable[[Any], Any],
) -> Iterator[tuple[str, Any]]:
    impls = sorted(caller.get_hookimpls(), key=lambda impl: impl.plugin_name)
    with Guard(limit) as guard:
        for impl in impls:
            arguments = [given[name] for name in impl.argnames]
            try:
                reply = guard.run(partial(_call, impl.function, arguments, shape))
            except PluginFailed as failure:
                _blame(problems, impl.plugin_name, f"{caller.name} failed", failure)
            else:
                yield impl.plugin_name, reply


def _call(
    function: Callable[..., object], arguments: Iterable[object], shape: Callable[[Any], Any]
) -> Any:
    reply = function(*arguments)
    if isinstance(reply, Coroutine):
        reply.close()
        raise TypeError("a hook may not be async")
    return shape(reply)


def _members(reply: object) -> tuple[object, ...]:
    if isinstance(reply, str | bytes | Mapping) or not isinstance(reply, Iterable):
        raise TypeError(f"it returned {type(reply).__name__} where a list is expected")
    members = tuple(islice(reply, MOST_ANSWERS + 1))
    if len(members) > MOST_ANSWERS:
        raise ValueError(f"it returned more than {MOST_ANSWERS} answers")
    return members


def _blame(problems: list[Problem], plugin: str, what: str, failure: PluginFailed) -> None:
    log.warning("plugin %s: %s: %s\n%s", plugin, what, failure.reason, failure.trace)
    problems.append(Problem(plugin, f"{what}: {failure.reason}", fatal=True))
