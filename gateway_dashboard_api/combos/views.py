"""How combos and presets are shown."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_administration.stores.renames import Rewritten
from gateway_core.storage.stores.combos import Combo


class Combos(Struct, frozen=True):
    combos: tuple[Combo, ...]


class ChangedCombo(Combo, frozen=True, kw_only=True, rename="camel"):
    rewritten: tuple[Rewritten, ...] | UnsetType = UNSET
    """What named it by its old name, and names it by the new one now."""


def changed_combo(combo: Combo, rewritten: tuple[Rewritten, ...]) -> ChangedCombo:
    return ChangedCombo(**msgspec.structs.asdict(combo), rewritten=rewritten or UNSET)


class Preset(Struct, frozen=True, kw_only=True):
    name: str
    models: tuple[str, ...]


class Skipped(Struct, frozen=True, kw_only=True):
    """``reason`` is ``exists`` or ``no_models``."""

    name: str
    reason: Literal["exists", "no_models"]


class Preview(Struct, frozen=True, kw_only=True, rename="camel"):
    source: str
    to_create: tuple[Preset, ...]
    to_skip: tuple[Skipped, ...]


class Made(Struct, frozen=True, kw_only=True):
    source: str
    created: tuple[Combo, ...]
    skipped: tuple[Skipped, ...]
