"""What is wrong with the plugins of an installation, and what to do about each of it."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distributions
from shlex import quote

from msgspec import Struct

from .about import file_of, trouble
from .core_packages import core_versions, plain
from .files import FileDamaged, PluginFolder
from .records import State
from .registry import Registry
from .switches import disabled


class Finding(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is not as it should be."""

    plugin: str
    """Its name, or that of a package or file."""
    bad: bool
    """True when something that is installed does not work."""
    detail: str
    advice: str


def findings(registry: Registry, folder: PluginFolder) -> list[Finding]:
    """Everything that is wrong, the bad before the rest."""
    found = [
        *_problems(registry),
        *_idle_switches(registry, folder),
        *_second_copies(folder),
        *_misplaced(folder),
    ]
    return sorted(found, key=lambda each: (not each.bad, each.plugin))


def _problems(registry: Registry) -> Iterator[Finding]:
    refused = {p.name for p in registry.plugins if p.state in (State.FAILED, State.LOCKED)}
    files = {plugin.name: file_of(plugin) for plugin in reversed(registry.plugins)}
    for problem in registry.problems:
        explained = trouble(problem, files.get(problem.plugin))
        yield Finding(
            plugin=problem.plugin,
            bad=problem.fatal or problem.plugin in refused,
            detail=explained.message,
            advice=explained.advice,
        )


def _idle_switches(registry: Registry, folder: PluginFolder) -> Iterator[Finding]:
    try:
        names = disabled(folder) - {plugin.name for plugin in registry.plugins}
    except FileDamaged:
        return  # Told by whoever loaded the plugins.
    for name in sorted(names):
        yield Finding(
            plugin=name,
            bad=False,
            detail="is switched off, and there is no plugin of this name",
            advice=f"model-gateway plugins enable {name} forgets about it.",
        )


def _second_copies(folder: PluginFolder) -> Iterator[Finding]:
    """Packages in the data directory that the gateway has of its own, so that nobody uses them."""
    try:
        core = core_versions()
    except PackageNotFoundError:
        return
    for package in distributions(path=[str(folder.packages)]):
        if plain(package.name) in core:
            yield Finding(
                plugin=package.name,
                bad=False,
                detail=f"a copy in {folder.packages} is never used; the gateway has its own",
                advice=f"Remove it from {folder.packages}.",
            )


def _misplaced(folder: PluginFolder) -> Iterator[Finding]:
    """Packages that somebody put beside the plugins, where nothing looks for packages."""
    for path in folder.misplaced():
        yield Finding(
            plugin=path.name,
            bad=False,
            detail=f"{path} is never looked at: a plugin that stands there is one file, NAME.py",
            advice=f"model-gateway plugins install {quote(str(path))} --into data",
        )
