"""Which plugins there are, found without importing any of them."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import partial
from importlib.metadata import Distribution, distributions
from pathlib import Path

from msgspec import Struct

GROUP = "model_gateway"
"""The entry-point group that a plugin's package declares itself in."""


class Origin(StrEnum):
    """Where a plugin was found. Of two of one name the one that stands first here wins."""

    GIVEN = "given"
    """Handed over by an embedding program."""
    INSTALLED = "installed"
    """A package in the running environment."""
    FOLDER = "folder"
    """A package in ``DATA_DIR/plugins/packages``."""
    FILE = "file"
    """One file in ``DATA_DIR/plugins``."""


class Found(Struct, frozen=True, kw_only=True):
    """A plugin before it is loaded; ``load`` imports it and gives the module or object."""

    name: str
    module: str
    load: Callable[[], object]
    distribution: str | None = None
    """The installed package; ``None`` for an object that was handed over."""
    version: str | None = None
    origin: Origin = Origin.GIVEN
    path: Path | None = None
    """A drop-in's file, or the folder a package of the data directory stands in."""
    fault: str | None = None
    """Why it is not even imported."""


def handed_over(plugins: Mapping[str, object]) -> Iterator[Found]:
    """Plugins that an embedding program or a test gives as objects, by name."""
    for name, plugin in plugins.items():
        module = str(getattr(plugin, "__name__", type(plugin).__name__))
        yield Found(name=name, module=module, load=partial(lambda value: value, plugin))


def installed(report: Callable[[str, str], None]) -> Iterator[Found]:
    """Plugins of the installed packages, looked through one by one.

    A damaged package hides no other: its name and what is wrong with it go to ``report``.
    """
    yield from declared(distributions(path=installation()), report, Origin.INSTALLED)


class Besides(str):
    """A place that imports look at though it is no part of the installation."""

    __slots__ = ()


def installation() -> list[str]:
    """Where the packages of the running environment are."""
    return [place for place in sys.path if not isinstance(place, Besides)]


_field = re.compile("^(Name|Version): *(.*)$", re.MULTILINE)
"""https://packaging.python.org/en/latest/specifications/core-metadata/"""


def declared(
    packages: Iterable[Distribution],
    report: Callable[[str, str], None],
    origin: Origin,
    path: Path | None = None,
) -> Iterator[Found]:
    """Plugins of these packages."""
    seen: set[str | None] = set()
    for distribution in packages:
        try:
            # Of the many packages few declare anything here, and parsing takes longest.
            if GROUP not in (distribution.read_text("entry_points.txt") or ""):
                continue
            entries = distribution.entry_points.select(group=GROUP)
            if not entries:
                continue
            name, version = _identity(distribution)
            discovered = [
                Found(
                    name=entry.name,
                    module=entry.value.partition(":")[0].strip(),
                    load=entry.load,
                    distribution=name,
                    version=version,
                    origin=origin,
                    path=path,
                )
                for entry in entries
            ]
        except Exception as error:  # a damaged package fails in whatever way it is damaged
            damaged = "unknown"
            with suppress(Exception):
                damaged = distribution.metadata["Name"] or damaged
            report(damaged, f"this package's entry points cannot be read: {error}")
            continue
        # The first of a name on the path hides the others, as it does for imports.
        if discovered[0].distribution not in seen:
            seen.add(discovered[0].distribution)
            yield from discovered


def _identity(distribution: Distribution) -> tuple[str, str]:
    """A package's name and version, without parsing the rest of what it says about itself."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0]
    fields = dict(_field.findall(head))
    if len(fields) < 2:
        fields = {name: distribution.metadata[name] for name in ("Name", "Version")}
    return fields["Name"], fields["Version"]
