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

from gateway_core.plugins.discovery import Found, Origin
from gateway_core.plugins.files import PluginFolder, remove_below, scratch, write_lines
from gateway_core.plugins.sources import CORE, distribution_of, plain

from .core_packages import core_versions
from .missing import Missing, missing
from .pip import Installer, InstallFailed, Run, insist


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
    try:
        core = core_versions()
    except PackageNotFoundError:
        reason = f"{CORE} is not installed as a package here, so nothing protects what it needs."
        raise InstallFailed(f"{reason} Install plugins with pip itself.") from None
    with scratch() as place:
        constraints = place / "constraints.txt"
        write_lines(constraints, (f"{name}=={version}" for name, version in sorted(core.items())))
        words = ("--constraint", str(constraints), *packages, *options)
        if into is None:
            try:
                insist(run(tool.command("install", *words)))
            except InstallFailed as failed:
                site = sysconfig.get_path("purelib")
                if os.access(site, os.W_OK):
                    raise
                advice = "--into data installs into the data directory."
                raise InstallFailed(f"{failed} {site} cannot be written; {advice}") from None
            return
        additions = missing(tool, words, into, place, run)
    for each in additions:
        if plain(each.name) in core:
            raise InstallFailed(f"{each.name} belongs to the gateway and is not installed twice.")
    if not additions:
        return
    into.make()
    before = _files(into, additions, any_version=True)
    exact = [each.requirement for each in additions]
    target = ("--target", str(into.packages))
    more = () if tool.is_uv else ("--upgrade", "--disable-pip-version-check")
    insist(run(tool.command("install", "--no-deps", *target, *more, *exact, *options)))
    # Installers with --target leave behind what an earlier version had and this one has not.
    remove_below(into.packages, before - _files(into, additions))


def uninstall(
    discovered: Found, folder: PluginFolder, *, run: Run, tool: Callable[[], Installer]
) -> None:
    """Remove a plugin's package or file. Raises InstallFailed, OSError."""
    if discovered.origin is Origin.FILE and discovered.path is not None:
        folder.remove(discovered.path.name)
        return
    if discovered.distribution is None or plain(discovered.distribution) == CORE:
        reason = f"{discovered.name} is a part of the gateway. This switches it off instead: "
        raise InstallFailed(f"{reason}model-gateway plugins disable {discovered.name}")
    if discovered.origin is Origin.FOLDER:
        package = distribution_of(discovered.distribution, Origin.FOLDER, folder)
        files = _listed(package) if package else ()
        if not remove_below(folder.packages, files):
            raise InstallFailed(
                f"{discovered.distribution} has no list of its files; "
                f"remove them from {folder.packages}."
            )
        return
    use = tool()
    insist(
        run(use.command("uninstall", *(() if use.is_uv else ("--yes",)), discovered.distribution))
    )


def _files(
    folder: PluginFolder, additions: Iterable[Missing], *, any_version: bool = False
) -> set[Path]:
    """The files of these packages in the data directory."""
    versions = {plain(each.name): each.version for each in additions}
    return {
        file
        for package in distributions(path=[str(folder.packages)])
        if (version := versions.get(plain(package.name))) is not None
        and (any_version or package.version == version)
        for file in _listed(package)
    }


def _listed(package: Distribution) -> Iterable[Path]:
    return (Path(str(file.locate())) for file in package.files or ())
