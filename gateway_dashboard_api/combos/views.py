"""How combos and presets are shown."""

from typing import Literal

from msgspec import Struct

from gateway_core.storage.stores.combos import Combo


class Combos(Struct, frozen=True):
    combos: tuple[Combo, ...]


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
