"""The packages that the gateway itself stands on, with the versions it runs with."""

import re
from importlib.metadata import PackageNotFoundError, distribution

from gateway_core.plugins.sources import CORE, plain

_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[(?P<extras>[^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[^'"]+)['"]""")


def core_versions() -> dict[str, str]:
    """Each package that ``model-gateway`` needs, itself included, to the version that is installed.

    What an extra of it asks for counts where it is installed. Raises
    PackageNotFoundError where the gateway is no installed package.
    """
    core = distribution(CORE)
    versions: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(CORE, frozenset(core.metadata.get_all("Provides-Extra") or ()))]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        versions[name] = package.version
        for line in package.requires or ():
            requirement, _, marker = line.partition(";")
            for_extras = set(_EXTRA.findall(marker))
            match = _REQUIREMENT.match(requirement)
            if match and (not for_extras or for_extras & extras):
                words = map(str.strip, (match["extras"] or "").split(","))
                waiting.append((plain(match["name"]), frozenset(filter(None, words))))
    return versions
