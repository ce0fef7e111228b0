"""What is stored of one plugin's settings."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class PluginDocument(Struct, frozen=True, kw_only=True):
    """The members that were set, by name, secrets opened."""

    members: Mapping[str, Any] = {}
    broken: tuple[str, ...] = ()
    """Secret members that cannot be opened; they are not among ``members``."""

    def __repr__(self) -> str:
        return f"PluginDocument({sorted(self.members)}, broken={self.broken})"


NOTHING = PluginDocument()
