"""Which plugins there are, told without importing any of them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import Distribution, distributions

from msgspec import Struct

GROUP = "model_gateway"
"""The entry-point group that a plugin's package declares itself in."""


class Found(Struct, frozen=True, kw_only=True):
    """A plugin before it is loaded; ``load`` imports it and gives the module or object."""

    name: str
    module: str
    load: Callable[[], object]
    distribution: str | None = None
    """The installed package; ``None`` for an object that was handed over."""
    version: str | None = None


def handed_over(plugins: Mapping[str, object]) -> Iterator[Found]:
    """Plugins that an embedding program or a test gives as objects, by name."""
    for name, plugin in plugins.items():
        module = str(getattr(plugin, "__name__", type(plugin).__name__))
        yield Found(name=name, module=module, load=partial(_itself, plugin))


def installed(report: Callable[[str, str], None]) -> Iterator[Found]:
    """Plugins of the installed packages, looked through one by one.

    A damaged package hides no other: its name and what is wrong with it go to ``report``.
    """
    seen: set[str | None] = set()
    for distribution in distributions():
        try:
            found = list(_entries(distribution))
        except Exception as error:  # a damaged package fails in whatever way it is damaged
            report(_name(distribution), f"this package's entry points cannot be read: {error}")
            continue
        # The first of a name on the path hides the others, as it does for imports.
        if found and found[0].distribution not in seen:
            seen.add(found[0].distribution)
            yield from found


def _itself(plugin: object) -> object:
    return plugin


def _entries(distribution: Distribution) -> Iterator[Found]:
    entries = distribution.entry_points.select(group=GROUP)
    if not entries:
        return
    metadata = distribution.metadata
    for entry in entries:
        yield Found(
            name=entry.name,
            module=entry.value.partition(":")[0].strip(),
            load=entry.load,
            distribution=metadata["Name"],
            version=metadata["Version"],
        )


def _name(distribution: Distribution) -> str:
    with suppress(Exception):
        return distribution.metadata["Name"] or "unknown"
    return "unknown"
