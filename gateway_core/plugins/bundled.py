"""Which distributions come with the gateway, and the formats and vendors each of them brings.

``bundled.json`` is written by ``tools/bundled.py`` from the plugin folders of the product's
repository and is part of the distribution ``model-gateway``. A plugin's own metadata can claim
anything, so only the gateway's own files say which plugins belong to it.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache

import msgspec
from msgspec import Struct

FILE = "bundled.json"


class BundledDistribution(Struct, frozen=True, omit_defaults=True):
    """What one distribution registers."""

    formats: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()


@cache
def distributions() -> Mapping[str, BundledDistribution]:
    """Every bundled distribution, by name."""
    content = pkgutil.get_data(__package__, FILE) or b"{}"
    return msgspec.json.decode(content, type=dict[str, BundledDistribution])


@cache
def provider_ids() -> frozenset[str]:
    """The ids of all bundled vendors, whether their plugins are installed or not."""
    return frozenset(id for each in distributions().values() for id in each.providers)


def distribution_of_format(id: str) -> str | None:
    """The bundled distribution that brings a format; ``None`` for a format from elsewhere."""
    return next((name for name, each in distributions().items() if id in each.formats), None)
