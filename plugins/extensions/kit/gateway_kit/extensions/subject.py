"""The extension under test: its module and the hooks it implements."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

ANSWERS = "register_answer_filters"
REGISTERED = frozenset(
    {
        *("register_shared_state", "register_file_contents", "register_observation"),
        *("register_servers", "listening"),
    }
)
"""Hooks of which a gateway uses the first plugin's."""
EXTENDING = REGISTERED | frozenset(
    {"lifespan", "register_commands", "register_interceptors", "register_routes", ANSWERS}
)
"""The hooks that make a plugin an extension."""


class ExtensionUnderTest(Struct, frozen=True, kw_only=True):
    """One extension."""

    module: str
    plugin: object
    hooks: frozenset[str]
    public: frozenset[str] | None = None
    """Paths that are meant for everybody; ``None`` does not say."""
    trusted: bool = False
    """Whether it needs the whole gateway."""
    settings: Mapping[str, Any] = {}
    """Values with which it does its work."""
