"""Plugins that the operator has switched off, by name.

They are kept in ``DATA_DIR/plugins/disabled.json``. A change counts from the
next start, because a plugin that runs cannot be taken out.
"""

from collections.abc import Collection

import msgspec
from msgspec import Struct

from .files import FileDamaged, PluginFolder

FILE = "disabled.json"


class _Document(Struct, frozen=True):
    disabled: tuple[str, ...] = ()


def disabled(folder: PluginFolder) -> frozenset[str]:
    """The names that are switched off. Raises FileDamaged."""
    content = folder.read_json(FILE)
    if content is None:
        return frozenset()
    try:
        return frozenset(msgspec.convert(content, _Document).disabled)
    except msgspec.ValidationError as error:
        raise FileDamaged(f"{folder.path / FILE} cannot be read: {error}") from error


def switch(folder: PluginFolder, name: str, *, on: bool) -> bool:
    """Switch a plugin on or off; False when it was so already. Raises FileDamaged, OSError."""
    before = disabled(folder)
    if on is (name not in before):
        return False
    folder.write_json(FILE, _Document(tuple(sorted(before - {name} if on else before | {name}))))
    return True


def reservation(
    name: str, *, on: bool, allowed: Collection[str], blocked: Collection[str]
) -> str | None:
    """What else keeps a plugin out that is switched on, in a sentence."""
    if on and name in blocked:
        return f"GATEWAY_BLOCK_PLUGINS still keeps {name} out."
    if on and allowed and name not in allowed:
        return f"GATEWAY_LOAD_PLUGINS does not name {name}, which keeps it out."
    return None
