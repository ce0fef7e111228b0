"""The extension under test: its module and the hooks it implements."""

from msgspec import Struct

EXTENDING = frozenset({"lifespan", "register_commands", "register_interceptors", "register_routes"})
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
