"""Names, formats and variables that are there already, which a new plugin has to know."""

from collections.abc import Mapping
from contextlib import suppress

from gateway_core import ProviderSpec
from gateway_core.plugins import load
from gateway_core.plugins.claims import OWN_VARIABLES, SETTINGS
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import Registry, build
from gateway_core.plugins.trust import HOUSE_EXTENSIONS, HOUSE_FORMATS, HOUSE_PROVIDERS
from gateway_kit.installed_formats import FORMAT, format_plugins
from gateway_kit.results.conformance_options import BadGiven, given_by

from .description import BadOrder, Order

_HOUSE = {"provider": HOUSE_PROVIDERS, "format": HOUSE_FORMATS, "extension": HOUSE_EXTENSIONS}


def check(order: Order) -> None:
    """Raises BadOrder for what another plugin has, and for a format that nobody speaks."""
    if order.name in _HOUSE[order.kind]:
        raise BadOrder(f"{order.plugin} comes with the gateway; choose another name")
    for found in installed(lambda name, told: None):
        if found.name == order.plugin and found.module != order.module:
            told = f"{order.plugin} is a plugin of {found.distribution}; choose another name"
            raise BadOrder(told)
    if order.kind == "extension":
        return
    registry = build(load())
    if order.kind == "format":
        _check_id(order, registry.format_plugins)
        _check_path(order, registry)
    else:
        _check_id(order, registry.provider_plugins)
        _check_wire(order.wire, registry)
        _check_variable(order, registry)


def _check_id(order: Order, owners: Mapping[str, str]) -> None:
    owner = owners.get(order.name, order.plugin)
    if owner != order.plugin:
        raise BadOrder(f"Plugin {owner} has a {order.kind} {order.name}; choose another name")


def _check_path(order: Order, registry: Registry) -> None:
    """Where clients ask in a format, nobody asks in another one."""
    path = f"/v1/{order.name}/chat"
    for wire in registry.formats.values():
        owner = registry.format_plugins[wire.id]
        if owner != order.plugin and any(each.path == path for each in wire.endpoints):
            raise BadOrder(f"{path} is a path of {owner}; choose another name")


def _check_wire(wire: str, registry: Registry) -> None:
    # A format that comes with a vendor is not there where that vendor is left out.
    plugins = registry.format_plugins
    own = (id for id in registry.formats if plugins[id].startswith(FORMAT))
    spoken = sorted({id for id in own if registry.formats[id].vendor is not None} - _other_work())
    if wire not in spoken:
        there = f"there are {', '.join(spoken)}" if spoken else "no format is installed"
        advice = "say another one with --format, or pip install the format's package"
        raise BadOrder(f"No installed plugin speaks {wire!r}: {there}; {advice}")


def _other_work() -> set[str]:
    """Wire formats that hold no conversation, so no vendor speaks one of them alone."""
    found = set[str]()
    for plugin in format_plugins().values():
        with suppress(BadGiven):  # its own check tells of it
            found |= {*given_by(getattr(plugin, "__name__", ""), plugin).other_work}
    return found


def _check_variable(order: Order, registry: Registry) -> None:
    """No account is made from a variable that somebody else has."""
    variable = order.key_variable
    if variable in OWN_VARIABLES or variable.startswith(SETTINGS):
        raise BadOrder(f"{variable} is the gateway's own variable; say another with --variable")
    for spec in registry.providers.values():
        owner = registry.provider_plugins[spec.id]
        if variable in _variables(spec) and owner != order.plugin:
            raise BadOrder(f"{variable} holds the key of {owner}; say another with --variable")


def _variables(spec: ProviderSpec) -> tuple[str, ...]:
    return (*spec.environment, *spec.environment_data)
