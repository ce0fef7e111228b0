"""Every section of the file, in the order in which its objects are made.

What others refer to comes first; deletions go the other way.
"""

from collections.abc import Mapping

from .id_collections import Combos, ConnectionGroups, Connections, KeyGroups, Keys, Nodes, Proxies
from .section import Section
from .tables import (
    Aliases,
    CustomModels,
    DisabledModels,
    EnabledModels,
    MediaRoutes,
    Plugins,
    PluginSettings,
    Prices,
    Settings,
)

SECTIONS: Mapping[str, Section] = {
    each.name: each
    for each in (
        Plugins(),
        PluginSettings(),
        Settings(),
        Proxies(),
        Nodes(),
        Connections(),
        ConnectionGroups(),
        CustomModels(),
        # Enabling a model takes it out of the disabled ones.
        EnabledModels(),
        DisabledModels(),
        Aliases(),
        Combos(),
        MediaRoutes(),
        Prices(),
        KeyGroups(),
        Keys(),
    )
}
VERSION = "version"
"""The member that says which form the file has."""
FORM = 1
