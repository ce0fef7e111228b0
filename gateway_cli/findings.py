"""What is wrong with the plugins of an installation, and what to do about each of it."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distributions
from pathlib import Path
from shlex import quote

from msgspec import Struct

from gateway_administration.plugins.about import file_of, switched_off, trouble
from gateway_core.plugins.files import PluginFolder
from gateway_core.plugins.records import State
from gateway_core.plugins.registry import Registry
from gateway_core.plugins.sources import plain

from .core_packages import core_versions


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
    refused = {p.name for p in registry.plugins if p.state in (State.FAILED, State.LOCKED)}
    files = {plugin.name: file_of(plugin) for plugin in reversed(registry.plugins)}
    results = []
    for problem in registry.problems:
        explained = trouble(problem, files.get(problem.plugin))
        is_bad = problem.fatal or problem.plugin in refused
        detail, advice = explained.message, explained.advice
        results.append(Finding(plugin=problem.plugin, bad=is_bad, detail=detail, advice=advice))
    for name in sorted(switched_off(folder) - {plugin.name for plugin in registry.plugins}):
        detail = "is switched off, and there is no plugin of this name"
        advice = f"model-gateway plugins enable {name} forgets about it."
        results.append(Finding(plugin=name, bad=False, detail=detail, advice=advice))
    core: dict[str, str] = {}
    with suppress(PackageNotFoundError):
        core = core_versions()
    # The data directory comes last on the import path, so a copy there is never imported.
    for package in distributions(path=[str(folder.packages)]) if core else ():
        if plain(package.name) in core:
            detail = f"a copy in {folder.packages} is never used; the gateway has its own"
            advice = f"Remove it from {folder.packages}."
            results.append(Finding(plugin=package.name, bad=False, detail=detail, advice=advice))
    for path in misplaced(folder):
        detail = f"{path} is never looked at: a plugin that stands there is one file, NAME.py"
        advice = f"model-gateway plugins install {quote(str(path))} --into data"
        results.append(Finding(plugin=path.name, bad=False, detail=detail, advice=advice))
    return sorted(results, key=lambda each: (not each.bad, each.plugin))


def misplaced(folder: PluginFolder) -> list[Path]:
    """Packages that stand beside the plugins, by name: folders of source, and archives."""
    with suppress(OSError):
        return [
            path
            for path in sorted(folder.path.iterdir())
            if path.name.endswith((".whl", ".tar.gz"))
            or any((path / name).is_file() for name in ("__init__.py", "pyproject.toml"))
        ]
    return []
