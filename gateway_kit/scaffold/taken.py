"""Names and formats that are there already, which a new plugin has to know."""

from gateway_core.plugins.discovery import installed
from gateway_core.plugins.standing import HOUSE_EXTENSIONS, HOUSE_FORMATS, HOUSE_PROVIDERS
from gateway_kit.installed import format_plugins, registry_of

from .order import BadOrder, Order

_HOUSE = {"provider": HOUSE_PROVIDERS, "format": HOUSE_FORMATS, "extension": HOUSE_EXTENSIONS}


def check(order: Order) -> None:
    """Raises BadOrder for a name that another plugin has, and for a format that nobody speaks."""
    if order.name in _HOUSE[order.kind]:
        raise BadOrder(f"{order.plugin} comes with the gateway; choose another name")
    for found in installed(lambda name, told: None):
        if found.name == order.plugin and found.module != order.module:
            told = f"{order.plugin} is a plugin of {found.distribution}; choose another name"
            raise BadOrder(told)
    if order.kind == "provider":
        _check_wire(order.wire)


def _check_wire(wire: str) -> None:
    formats = registry_of(format_plugins()).formats
    spoken = sorted(id for id, found in formats.items() if found.vendor is not None)
    if wire not in spoken:
        raise BadOrder(f"No installed plugin speaks {wire!r}; there are {', '.join(spoken)}")
