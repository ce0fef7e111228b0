"""Which process variables the providers of a plugin may read accounts from, and who may have an id.

A variable holds one vendor's key. Where several plugins that do not come with the
gateway name it, none of them gets it: the key of one vendor must not reach another by
a mistake in a name, and nothing says which of them the operator meant.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from ..config.environment import VARIABLES
from ..contracts.provider import ProviderSpec
from . import bundled

Report = Callable[[str, str], None]
"""Takes a plugin's name and what is wrong."""

SETTINGS = "PLUGIN_"
"""What the variables that hold plugins' settings begin with."""
OWN_VARIABLES = frozenset(variable.name for variable in VARIABLES)


def is_reserved(id: str, plugin: str, first: frozenset[str]) -> bool:
    """Whether a provider's id is kept for the plugin of that name which comes with the gateway.

    Accounts that were saved for it must not fall to another plugin while it is switched off.
    """
    return id in bundled.provider_ids() and plugin not in first


def without_lost_variables(
    providers: Mapping[str, ProviderSpec],
    owners: Mapping[str, str],
    first: frozenset[str],
    report: Report,
) -> Iterator[ProviderSpec]:
    """The providers that lose variables, without them. ``first`` are the plugins that keep theirs.

    ``owners`` holds the plugin of each provider.
    """
    claims: dict[str, set[str]] = {}
    for spec in providers.values():
        for variable in _variables(spec):
            claims.setdefault(variable, set()).add(owners[spec.id])
    for spec in providers.values():
        plugin, lost = owners[spec.id], set[str]()
        if plugin in first:
            continue
        for variable in dict.fromkeys(_variables(spec)):
            others = claims[variable] - {plugin}
            if variable in OWN_VARIABLES or variable.startswith(SETTINGS):
                reason = "it is the gateway's own"
            elif others:
                names = " and ".join(sorted(others))
                reason = f"plugin {names} claims it too; add a connection instead"
            else:
                continue
            lost.add(variable)
            report(plugin, f"provider {spec.id!r}: no account is made from {variable}: {reason}")
        if lost:
            yield replace(
                spec,
                environment=tuple(name for name in spec.environment if name not in lost),
                environment_data={
                    name: key for name, key in spec.environment_data.items() if name not in lost
                },
            )


def _variables(spec: ProviderSpec) -> tuple[str, ...]:
    return (*spec.environment, *spec.environment_data)
