"""Differences from the plugin lock, in words.

A plugin that differs is not imported, and whatever else there is serves. A
lock that cannot be read says nothing about any plugin, so that only what comes
with the gateway is imported then.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from .discovery import Found, Origin
from .files import FileDamaged, PluginFolder, hashes_of
from .lock import Lock, LockEntry, is_on, kept
from .sources import plain
from .startup_files import changes, owners, startup_files
from .trust import is_bundled

PLUGIN = "lock"
"""Stands for a plugin where there is something to tell that is about none."""
ADVICE = "Look at what changed; when it is as it should be: model-gateway plugins lock"
MOST_NAMES = 5
"""How many files are named of those that differ."""


class Drift(Struct, frozen=True, kw_only=True, rename="camel"):
    """One difference."""

    plugin: str
    """Its name, or ``lock`` for what belongs to no plugin."""
    detail: str
    bad: bool = True
    """False for what can do no harm."""


def watch(folder: PluginFolder | None, candidates: Iterable[Found]) -> "Watch | None":
    """What compares with the lock; None when there is none."""
    if folder is None or not is_on(folder):
        return None
    present = [each for each in candidates if each.origin is not Origin.GIVEN]
    try:
        return Watch(kept(folder), present, startup_files(folder.packages))
    except (FileDamaged, OSError) as error:
        return Damaged(str(error), present)


class Watch:
    """Compares what was found with a lock."""

    def __init__(self, lock: Lock, candidates: Iterable[Found], startup: dict[str, str]) -> None:
        self._lock = lock
        self._found = tuple(candidates)
        self._startup = changes(lock.startup_files, startup)
        self._owners = owners(self._startup) if self._startup else {}

    def objection(self, discovered: Found) -> str | None:
        """Why a plugin is not to be imported; None when it may be."""
        if discovered.origin is Origin.GIVEN:
            return None
        entries = [entry for entry in self._lock.plugins if entry.name == discovered.name]
        if not entries:
            return "the plugin lock does not have it"
        entry = next((entry for entry in entries if _source(entry) == _source(discovered)), None)
        if entry is None:
            return (
                f"the plugin lock has it from {_place(entries[0])}, not from {_place(discovered)}"
            )
        if entry.version != discovered.version:
            return f"the plugin lock has version {entry.version}, not {discovered.version}"
        if entry.module != discovered.module and discovered.origin is not Origin.FILE:
            return f"the plugin lock has it in {entry.module}, not in {discovered.module}"
        try:
            changed = changes(entry.files, hashes_of(discovered))
        except OSError as error:
            return f"its files cannot be read: {error}"
        if changed:
            named = [f"{name} is {change}" for name, change in changed.items()]
            more = [f"{len(named) - MOST_NAMES} more"] if len(named) > MOST_NAMES else []
            return f"its files differ from the plugin lock: {', '.join(named[:MOST_NAMES] + more)}"
        package = plain(discovered.distribution or "")
        for file, change in self._startup.items():
            if change != "gone" and self._owners.get(file) == package:
                return f"{file}, which its package brings, is {change}"
        return None

    def drifts(self) -> list[Drift]:
        """Everything that differs."""
        objections = ((each.name, self.objection(each)) for each in self._found)
        refused = [Drift(plugin=name, detail=detail) for name, detail in objections if detail]
        return [*refused, *self.others()]

    def others(self) -> Iterator[Drift]:
        """What differs and is about no plugin that is there."""
        owned = {plain(each.distribution) for each in self._found if each.distribution}
        for file, change in self._startup.items():
            if change == "gone":
                yield Drift(plugin=PLUGIN, detail=f"{file} is gone", bad=False)
            elif self._owners.get(file) not in owned:
                detail = f"{file} is {change}: its lines may be code that runs at every start"
                yield Drift(plugin=PLUGIN, detail=detail)
        for name in sorted(
            {entry.name for entry in self._lock.plugins} - {each.name for each in self._found}
        ):
            yield Drift(plugin=name, detail="it is in the plugin lock and not there", bad=False)


class Damaged(Watch):
    """Stands for a lock that cannot be read."""

    def __init__(self, reason: str, candidates: Iterable[Found]) -> None:
        super().__init__(Lock(version=1, plugins=(), startup_files={}), candidates, {})
        self._reason = reason

    def others(self) -> Iterator[Drift]:
        yield Drift(plugin=PLUGIN, detail=self._reason)

    def objection(self, discovered: Found) -> str | None:
        return None if discovered.origin is Origin.GIVEN or is_bundled(discovered) else self._reason


def _source(plugin: LockEntry | Found) -> tuple[Origin, str]:
    return plugin.origin, plain(plugin.distribution or "")


def _place(plugin: LockEntry | Found) -> str:
    return f"{plugin.origin} {plugin.distribution or ''}".strip()
