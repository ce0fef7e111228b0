"""Installing and uninstalling plugins so that what the gateway stands on never changes.

Into the running environment it is one call of the installer, with the
gateway's own packages as constraints. Into the data directory it is two: the
first works out what is missing beside what is installed already, the second
puts exactly that there, so there is never a second copy of the gateway.
"""

import os
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distributions
from pathlib import Path

from .core_packages import core_versions, plain
from .discovery import Found, Origin
from .files import PluginFolder, remove_below, scratch, write_lines
from .missing import Missing, missing
from .pip import CommandResult, Installer, InstallFailed, Run, insist
from .sources import CORE, distribution_of


def install(
    packages: Sequence[str],
    options: Sequence[str],
    into: PluginFolder | None,
    *,
    run: Run,
    tool: Installer,
) -> None:
    """Install packages into a data directory, or with None to where the gateway is installed.

    ``options`` go to the installer as they are. Raises InstallFailed, OSError.
    """
    core = _core()
    with scratch() as place:
        constraints = place / "constraints.txt"
        write_lines(constraints, (f"{name}=={version}" for name, version in sorted(core.items())))
        words = ("--constraint", str(constraints), *packages, *options)
        if into is None:
            _insist_here(run(tool.command("install", *words)))
            return
        wanted = missing(tool, words, into, place, run)
    for each in wanted:
        if plain(each.name) in core:
            raise InstallFailed(f"{each.name} belongs to the gateway and is not installed twice.")
    if wanted:
        _put(wanted, options, into, run, tool)


def uninstall(
    found: Found, folder: PluginFolder, *, run: Run, tool: Callable[[], Installer]
) -> None:
    """Remove a plugin's package or file. Raises InstallFailed, OSError."""
    if found.origin is Origin.FILE and found.path is not None:
        folder.remove(found.path.name)
        return
    if found.distribution is None or plain(found.distribution) == CORE:
        reason = f"{found.name} is a part of the gateway. This switches it off instead: "
        raise InstallFailed(f"{reason}model-gateway plugins disable {found.name}")
    if found.origin is Origin.FOLDER:
        package = distribution_of(found.distribution, Origin.FOLDER, folder)
        files = _listed(package) if package else ()
        if not remove_below(folder.packages, files):
            raise InstallFailed(
                f"{found.distribution} has no list of its files; "
                f"remove them from {folder.packages}."
            )
        return
    use = tool()
    insist(run(use.command("uninstall", *(() if use.is_uv else ("--yes",)), found.distribution)))


def _insist_here(ended: CommandResult) -> None:
    """Raises InstallFailed, which names the other place where this one is shut."""
    place = sysconfig.get_path("purelib")
    try:
        insist(ended)
    except InstallFailed as failed:
        if os.access(place, os.W_OK):
            raise
        reason = (
            f"{failed} {place} cannot be written; --into data installs into the data directory."
        )
        raise InstallFailed(reason) from None


def _core() -> dict[str, str]:
    try:
        return core_versions()
    except PackageNotFoundError:
        reason = f"{CORE} is not installed as a package here, so nothing protects what it needs."
        raise InstallFailed(f"{reason} Install plugins with pip itself.") from None


def _put(
    wanted: Sequence[Missing],
    options: Sequence[str],
    into: PluginFolder,
    run: Run,
    tool: Installer,
) -> None:
    """Install exactly these, and clear away what their earlier versions leave behind."""
    into.make()
    before = _files(into, wanted, any_version=True)
    exact = [each.requirement for each in wanted]
    place = ("--target", str(into.packages))
    more = () if tool.is_uv else ("--upgrade", "--disable-pip-version-check")
    insist(run(tool.command("install", "--no-deps", *place, *more, *exact, *options)))
    remove_below(into.packages, before - _files(into, wanted))


def _files(
    folder: PluginFolder, wanted: Iterable[Missing], *, any_version: bool = False
) -> set[Path]:
    """The files of these packages in the data directory."""
    versions = {plain(each.name): each.version for each in wanted}
    return {
        file
        for package in distributions(path=[str(folder.packages)])
        if (version := versions.get(plain(package.name))) is not None
        and (any_version or package.version == version)
        for file in _listed(package)
    }


def _listed(package: Distribution) -> Iterable[Path]:
    return (Path(str(file.locate())) for file in package.files or ())
