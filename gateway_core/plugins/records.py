"""What became of every plugin that was found, and what was wrong."""

import logging
from enum import StrEnum

import pluggy
from msgspec import Struct

from . import protocol as protocols
from .discovery import Origin
from .guard import LoadGuard, PluginFailed

log = logging.getLogger(__name__)


class State(StrEnum):
    """What became of a plugin that was found."""

    BLOCKED = "blocked"
    UNLISTED = "not on the allow list"
    DISABLED = "disabled"
    LOCKED = "refused by the lock"
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
    origin: Origin = Origin.GIVEN
    protocol: int = protocols.UNSAID
    """Which version of the hook protocol it speaks."""
    digest: str | None = None
    """Of its files, where they were looked at."""
    path: str | None = None
    """A drop-in's file, or the folder a package of the data directory stands in."""
    hooks: tuple[str, ...] = ()
    """The hooks it implements."""


class Problem(Struct, frozen=True):
    """Something a plugin did wrong, for the log, the operator's page and ``doctor``."""

    plugin: str
    message: str
    fatal: bool = False
    """True when the plugin's own code failed, so that nothing it says counts."""
    advice: str = ""
    """What the operator can do about it, where that is known."""


class Loaded(Struct, frozen=True):
    """One load: the hooks to call, what became of every plugin that was found, and what guards
    its code until the gateway stands."""

    manager: pluggy.PluginManager
    plugins: tuple[Plugin, ...]
    problems: tuple[Problem, ...]
    guard: LoadGuard


def report(problems: list[Problem], problem: Problem) -> None:
    """Keep a problem and log it."""
    log.warning("plugin %s: %s", problem.plugin, problem.message)
    problems.append(problem)


def report_failure(
    problems: list[Problem], plugin: str, action: str, failure: PluginFailed, place: str = ""
) -> None:
    """Keep that a plugin's own code failed, and log where; ``place`` is shown to the operator."""
    message = f"{action}: {failure.reason}" + (f" ({place})" if place else "")
    log.warning("plugin %s: %s\n%s", plugin, message, failure.trace)
    problems.append(Problem(plugin, message, fatal=True))
