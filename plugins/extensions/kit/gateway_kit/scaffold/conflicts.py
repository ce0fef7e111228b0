"""Names, formats and variables that are there already, which a new plugin has to know."""

from collections.abc import Mapping
from contextlib import suppress

from gateway_core.plugins import bundled, load
from gateway_core.plugins.claims import OWN_VARIABLES, SETTINGS
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import Registry, build
from gateway_core.plugins.sources import CORE
from gateway_kit.installed_formats import FORMAT_PREFIX, format_plugins
from gateway_kit.results.conformance_options import BadConformanceOptions, read_conformance_options

from .description import BadDescription, PluginDescription


def check(order: PluginDescription) -> None:
    """Raises BadOrder for what another plugin has, and for a format that nobody speaks."""
    if f"{CORE}-{order.kind}-{order.name}" in bundled.distributions():
        raise BadDescription(f"{order.plugin} comes with the gateway; choose another name")
    for ids in installed(lambda name, message: None):
        if ids.name == order.plugin and ids.module != order.module:
            message = f"{order.plugin} is a plugin of {ids.distribution}; choose another name"
            raise BadDescription(message)
    if order.kind == "extension":
        return
    registry = build(load())
    if order.kind == "format":
        _check_id(order, registry.format_plugins)
        path = f"/v1/{order.name}/chat"
        for wire in registry.formats.values():
            owner = registry.format_plugins[wire.id]
            if owner != order.plugin and any(each.path == path for each in wire.endpoints):
                raise BadDescription(f"{path} is a path of {owner}; choose another name")
    else:
        _check_id(order, registry.provider_plugins)
        _check_wire(order.wire, registry)
        _check_variable(order, registry)


def _check_id(order: PluginDescription, owners: Mapping[str, str]) -> None:
    owner = owners.get(order.name, order.plugin)
    if owner != order.plugin:
        raise BadDescription(f"Plugin {owner} has a {order.kind} {order.name}; choose another name")


def _check_wire(wire: str, registry: Registry) -> None:
    # A format that comes with a vendor is not there where that vendor is left out.
    plugins = registry.format_plugins
    ids = (id for id in registry.formats if plugins[id].startswith(FORMAT_PREFIX))
    vendor_formats = sorted(
        {id for id in ids if registry.formats[id].vendor is not None} - _formats_without_chat()
    )
    if wire not in vendor_formats:
        choices = (
            f"there are {', '.join(vendor_formats)}" if vendor_formats else "no format is installed"
        )
        advice = "say another one with --format, or pip install the format's package"
        raise BadDescription(f"No installed plugin speaks {wire!r}: {choices}; {advice}")


def _formats_without_chat() -> set[str]:
    """Wire formats that hold no conversation, so no vendor speaks one of them alone."""
    ids = set[str]()
    for plugin in format_plugins().values():
        with suppress(BadConformanceOptions):  # its own check tells of it
            ids |= {*read_conformance_options(getattr(plugin, "__name__", ""), plugin).other_work}
    return ids


def _check_variable(order: PluginDescription, registry: Registry) -> None:
    """No account is made from a variable that somebody else has."""
    variable = order.key_variable
    if variable in OWN_VARIABLES or variable.startswith(SETTINGS):
        raise BadDescription(
            f"{variable} is the gateway's own variable; say another with --variable"
        )
    for spec in registry.providers.values():
        owner = registry.provider_plugins[spec.id]
        if variable in ((*spec.environment, *spec.environment_data)) and owner != order.plugin:
            raise BadDescription(
                f"{variable} holds the key of {owner}; say another with --variable"
            )
