"""The installed wire formats, and what the gateway makes of a plugin beside them."""

import importlib
from collections.abc import Mapping

from gateway_core.plugins import load
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import Registry, build

FORMAT_PREFIX = "format-"
"""How the entry points of format plugins begin."""


DEFAULT_FORMAT = "openai"
"""The wire format of what is made up for a plugin."""
INSTALL_DEFAULT_FORMAT = "pip install model-gateway-format-openai"


def format_plugins() -> dict[str, object]:
    """The installed format plugins by name; one that cannot be imported is left out."""
    plugins: dict[str, object] = {}
    for entry in installed(lambda name, message: None):
        if entry.name.startswith(FORMAT_PREFIX):
            try:
                plugins[entry.name] = entry.load()
            except Exception:  # another plugin's fault is not the tested one's
                continue
    return plugins


def import_plugin(plugin: str | object) -> tuple[str, object]:
    """The name of a plugin's module, and the module; an object is taken as it is."""
    if isinstance(plugin, str):
        return plugin, importlib.import_module(plugin)
    return str(getattr(plugin, "__name__", type(plugin).__name__)), plugin


def build_registry(plugins: Mapping[str, object]) -> Registry:
    """What the gateway makes of these plugins."""
    return build(load(entry_points=False, extra=plugins))


def installed_plugin(name: str) -> object:
    """What is installed under this name; ``None`` without any."""
    found = (each.load() for each in installed(lambda name, message: None) if each.name == name)
    return next(found, None)
