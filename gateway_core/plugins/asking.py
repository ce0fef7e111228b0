"""Asking the plugins that are loaded: every implementation of a hook, each behind a guard."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

import pluggy
from msgspec import Struct

from .guard import LoadGuard, PluginFailed
from .records import Problem, report_failure
from .setting_fields import masked, secret_texts

HOOK_LIMIT = 5.0
"""Seconds one implementation of a hook may take, where no guard of a start is at hand."""
MOST_ANSWERS = 10_000
"""How many answers one implementation may give; a plugin must not fill the memory."""

Arguments = Mapping[str, object] | Callable[[str], Mapping[str, object]]
"""A hook's arguments by name: the same for every plugin, or those of the plugin that is named."""
NO_ARGUMENTS: Arguments = MappingProxyType({})


def answers(
    caller: pluggy.HookCaller,
    problems: list[Problem],
    arguments: Arguments = NO_ARGUMENTS,
    *,
    guard: LoadGuard | None = None,
) -> list[tuple[str, Any]]:
    """Every member of what each implementation returns, with the plugin's name.

    For the hooks that return an iterable. An implementation that raises, tries
    to leave, takes longer than the ``guard`` has patience or returns no iterable
    gives nothing but a fatal problem. ``arguments`` are the hook's.
    """
    by_plugin = replies(caller, problems, arguments, guard=guard, many=True)
    return [(plugin, member) for plugin, members in by_plugin for member in members]


def replies(
    caller: pluggy.HookCaller,
    problems: list[Problem],
    arguments: Arguments = NO_ARGUMENTS,
    *,
    guard: LoadGuard | None = None,
    in_turn: bool = False,
    many: bool = False,
) -> list[tuple[str, Any]]:
    """What each implementation returns, as it is; guarded like :func:`answers`.

    ``in_turn`` is for a hook whose order counts for what it does, and not only for its replies.
    ``many`` has a reply iterated.
    """
    calls, given, sound = [], [], []
    for impl in caller.get_hookimpls():
        own = arguments(impl.plugin_name) if callable(arguments) else arguments
        members = {"settings": None, **own}
        values = [members[name] for name in impl.argnames]
        calls.append(partial(_call, impl.function, values, many))
        given.append((impl.plugin_name, members["settings"]))
    with guard or LoadGuard(HOOK_LIMIT) as guarded:
        outcomes = guarded.run_all(calls, in_turn=in_turn)
    for (plugin, settings), reply in zip(given, outcomes, strict=True):
        if not isinstance(reply, PluginFailed):
            sound.append((plugin, reply))
            continue
        # The text of a failure may hold secrets of the plugin's settings.
        if isinstance(settings, Struct):
            secrets = tuple(secret_texts(settings))
            reply.reason = masked(reply.reason, secrets)
            reply.trace = masked(reply.trace, secrets)
        report_failure(problems, plugin, f"{caller.name} failed", reply)
    return sound


def _call(function: Callable[..., object], arguments: Iterable[object], many: bool) -> Any:
    """Run one implementation; with ``many`` also iterate its reply, which is plugin code too."""
    reply = function(*arguments)
    if isinstance(reply, Coroutine):
        reply.close()
        raise TypeError("a hook may not be async")
    if not many:
        return reply
    if isinstance(reply, str | bytes | Mapping) or not isinstance(reply, Iterable):
        raise TypeError(f"it returned {type(reply).__name__} where a list is expected")
    members = tuple(islice(reply, MOST_ANSWERS + 1))
    if len(members) > MOST_ANSWERS:
        raise ValueError(f"it returned more than {MOST_ANSWERS} answers")
    return members
