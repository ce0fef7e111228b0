"""The packages that the gateway itself stands on, with the versions it runs with."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from .sources import CORE

_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[(?P<extras>[^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[^'"]+)['"]""")


def core_versions() -> dict[str, str]:
    """Each package that ``model-gateway`` needs, itself included, to the version that is installed.

    What an extra of it asks for counts where it is installed. Raises
    PackageNotFoundError where the gateway is no installed package.
    """
    core = distribution(CORE)
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(CORE, frozenset(core.metadata.get_all("Provides-Extra") or ()))]
    while waiting:
        name, extras = waiting.pop()
        package = _installed(name)
        if package is None or (name, extras) in seen:
            continue
        seen.add((name, extras))
        found[name] = package.version
        waiting += _needs(package, extras)
    return found


def plain(name: str) -> str:
    """A package's name in the one spelling that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _needs(package: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package needs, each with the extras that are asked of it."""
    for line in package.requires or ():
        requirement, _, marker = line.partition(";")
        wanted_extras = set(_EXTRA.findall(marker))
        match = _REQUIREMENT.match(requirement)
        if match and (not wanted_extras or wanted_extras & extras):
            words = (match["extras"] or "").split(",")
            yield plain(match["name"]), frozenset(word.strip() for word in words if word.strip())
