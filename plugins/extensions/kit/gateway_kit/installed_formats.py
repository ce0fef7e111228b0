"""The installed wire formats, and what the gateway makes of a plugin beside them."""

import importlib
from collections.abc import Mapping

from gateway_core.plugins import load
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import Registry, build

FORMAT = "format-"
"""How the entry points of format plugins begin."""


USUAL = "openai"
"""The wire format of what is made up for a plugin."""
TO_INSTALL = "pip install model-gateway-format-openai"


def format_plugins() -> dict[str, object]:
    """The installed format plugins by name; one that cannot be imported is left out."""
    found: dict[str, object] = {}
    for each in installed(lambda name, told: None):
        if each.name.startswith(FORMAT):
            try:
                found[each.name] = each.load()
            except Exception:  # the plugin under test is not to blame for another one
                continue
    return found


def named(plugin: str | object) -> tuple[str, object]:
    """The name of a plugin's module, and the module; an object is taken as it is."""
    if isinstance(plugin, str):
        return plugin, importlib.import_module(plugin)
    return str(getattr(plugin, "__name__", type(plugin).__name__)), plugin


def registry_of(plugins: Mapping[str, object]) -> Registry:
    """What the gateway makes of these plugins."""
    return build(load(entry_points=False, extra=plugins))
