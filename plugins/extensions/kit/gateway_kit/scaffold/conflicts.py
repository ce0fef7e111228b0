"""Conflicts of a new plugin with existing names, formats and variables."""

from collections.abc import Mapping
from contextlib import suppress

from gateway_core.plugins import bundled, load
from gateway_core.plugins.claims import OWN_VARIABLES, SETTINGS
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import Registry, build
from gateway_core.plugins.sources import CORE
from gateway_kit.installed_formats import FORMAT_PREFIX, format_plugins
from gateway_kit.providers.conformance_options import (
    BadConformanceOptions,
    read_conformance_options,
)

from .description import BadDescription, PluginDescription


def check(description: PluginDescription) -> None:
    """Raises BadDescription for names that another plugin has and for an unknown format."""
    if f"{CORE}-{description.kind}-{description.name}" in bundled.distributions():
        raise BadDescription(f"{description.plugin} comes with the gateway; choose another name")
    for each in installed(lambda name, message: None):
        if each.name == description.plugin and each.module != description.module:
            message = (
                f"{description.plugin} is a plugin of {each.distribution}; choose another name"
            )
            raise BadDescription(message)
    if description.kind == "extension":
        return
    registry = build(load())
    if description.kind == "format":
        _check_id(description, registry.format_plugins)
        path = f"/v1/{description.name}/chat"
        for wire in registry.formats.values():
            owner = registry.format_plugins[wire.id]
            if owner != description.plugin and any(each.path == path for each in wire.endpoints):
                raise BadDescription(f"{path} is a path of {owner}; choose another name")
    else:
        _check_id(description, registry.provider_plugins)
        _check_wire(description.wire, registry)
        _check_variable(description, registry)


def _check_id(description: PluginDescription, owners: Mapping[str, str]) -> None:
    owner = owners.get(description.name, description.plugin)
    if owner != description.plugin:
        raise BadDescription(
            f"Plugin {owner} has a {description.kind} {description.name}; choose another name"
        )


def _check_wire(wire: str, registry: Registry) -> None:
    # A format that comes with a vendor is not there where that vendor is left out.
    plugins = registry.format_plugins
    ids = (id for id in registry.formats if plugins[id].startswith(FORMAT_PREFIX))
    # Wire formats without conversations cannot be a provider's only format.
    without_chat = set[str]()
    for plugin in format_plugins().values():
        with suppress(BadConformanceOptions):  # its own check reports it
            options = read_conformance_options(getattr(plugin, "__name__", ""), plugin)
            without_chat |= {*options.other_work}
    vendor_formats = sorted(
        {id for id in ids if registry.formats[id].vendor is not None} - without_chat
    )
    if wire not in vendor_formats:
        choices = (
            f"there are {', '.join(vendor_formats)}" if vendor_formats else "no format is installed"
        )
        advice = "say another one with --format, or pip install the format's package"
        raise BadDescription(f"No installed plugin speaks {wire!r}: {choices}; {advice}")


def _check_variable(description: PluginDescription, registry: Registry) -> None:
    """Refuse a variable that another plugin already uses."""
    variable = description.key_variable
    if variable in OWN_VARIABLES or variable.startswith(SETTINGS):
        raise BadDescription(
            f"{variable} is the gateway's own variable; say another with --variable"
        )
    for spec in registry.providers.values():
        owner = registry.provider_plugins[spec.id]
        if (
            variable in ((*spec.environment, *spec.environment_data))
            and owner != description.plugin
        ):
            raise BadDescription(
                f"{variable} holds the key of {owner}; say another with --variable"
            )
