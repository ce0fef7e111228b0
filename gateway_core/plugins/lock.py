"""The plugin lock: what was installed when somebody looked, by version and hash of every file.

It is on while ``DATA_DIR/plugins/lock.json`` is there. The ``.pth`` files of
the places that Python starts from are in it too, because their lines may be
code that runs before anybody is asked. What an embedding program hands over is
not in it, and neither is the gateway's own code outside its plugins.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from .discovery import Found, Origin
from .files import FileDamaged, PluginFolder, hashes_of
from .startup_files import startup_files

FILE = "lock.json"


class LockEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """One plugin as it was."""

    name: str
    origin: Origin
    distribution: str | None
    version: str | None
    module: str
    """The one that its entry point names."""
    files: Mapping[str, str]
    """SHA-256, in hex, of each file, by posix path from where it is imported."""


class Lock(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that may bring code into the process when it starts."""

    version: Literal[1]
    plugins: tuple[LockEntry, ...]
    startup_files: Mapping[str, str]
    """SHA-256, in hex, of each ``.pth`` file, by path."""


def taken(candidates: Iterable[Found], folder: PluginFolder) -> Lock:
    """A lock on what is there now. Raises OSError."""
    entries = (
        LockEntry(
            name=each.name,
            origin=each.origin,
            distribution=each.distribution,
            version=each.version,
            module=each.module,
            files=hashes_of(each),
        )
        for each in candidates
        if each.origin is not Origin.GIVEN
    )
    return Lock(version=1, plugins=tuple(entries), startup_files=startup_files(folder.packages))


def is_on(folder: PluginFolder) -> bool:
    """Whether there is a lock, be it damaged; one look."""
    return os.path.lexists(folder.path / FILE)


def kept(folder: PluginFolder) -> Lock:
    """The lock that is there. Raises FileDamaged."""
    try:
        return msgspec.convert(folder.read_json(FILE), Lock)
    except (msgspec.ValidationError, RecursionError) as error:
        raise FileDamaged(f"{folder.path / FILE} cannot be read: {error}") from error
