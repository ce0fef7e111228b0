"""How much a plugin is trusted: whether it comes with the gateway, and whether it gets all of it.

Nothing here is a defence against code that runs in the process. It decides which of two
plugins keeps a name that both claim, and which plugin gets the whole gateway instead of
its own part.
"""

from collections.abc import Container

from . import bundled
from .discovery import Found, Origin
from .records import Plugin
from .sources import CORE


def is_bundled(plugin: Plugin | Found) -> bool:
    """Whether the gateway's own distribution names the plugin's distribution as one of its own.

    Only for what is installed: the data directory may hold a package of any name.
    """
    return plugin.origin is Origin.INSTALLED and (
        plugin.distribution == CORE or plugin.distribution in bundled.distributions()
    )


def has_precedence(plugin: Plugin) -> bool:
    """Whether it keeps its names, paths and variables when another plugin claims them."""
    return plugin.origin is Origin.GIVEN or is_bundled(plugin)


def is_trusted(plugin: Plugin, trusted: Container[str]) -> bool:
    """Whether it gets the whole gateway; ``trusted`` holds the names the operator trusts."""
    is_core = plugin.origin is Origin.INSTALLED and plugin.distribution == CORE
    return plugin.origin is Origin.GIVEN or is_core or plugin.name in trusted
