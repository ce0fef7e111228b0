"""Which process variables the providers of a plugin may read accounts from, and who may have an id.

A variable holds one vendor's key. Where plugins of strangers want it too, none
of them gets it: the key of one vendor must not reach another by a mistake in a
name, and nobody can tell which of two strangers the operator meant.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from ..config.environment import VARIABLES
from ..contracts.provider import ProviderSpec
from . import bundled

Report = Callable[[str, str], None]
"""Takes a plugin's name and what is wrong."""

SETTINGS = "PLUGIN_"
"""What the variables that hold plugins' settings begin with."""
OWN_VARIABLES = frozenset(variable.name for variable in VARIABLES)


def is_kept(id: str, plugin: str, first: frozenset[str]) -> bool:
    """Whether a provider's id is kept for the plugin of that name which comes with the gateway.

    Accounts that were saved for it must not fall to a stranger while it is switched off.
    """
    return id in bundled.provider_ids() and plugin not in first


def settled(
    providers: Mapping[str, ProviderSpec],
    owners: Mapping[str, str],
    first: frozenset[str],
    report: Report,
) -> Iterator[ProviderSpec]:
    """The providers that lose variables, without them. ``first`` are the plugins that keep theirs.

    ``owners`` tells the plugin of each provider.
    """
    claims = _claims(providers.values(), owners)
    for spec in providers.values():
        plugin = owners[spec.id]
        if plugin in first:
            continue
        lost = {v: why for v in _variables(spec) if (why := _objection(v, claims[v] - {plugin}))}
        for variable, why in lost.items():
            report(plugin, f"provider {spec.id!r}: no account is made from {variable}: {why}")
        if lost:
            yield replace(
                spec,
                environment=tuple(name for name in spec.environment if name not in lost),
                environment_data={
                    name: key for name, key in spec.environment_data.items() if name not in lost
                },
            )


def _claims(
    providers: Iterable[ProviderSpec], owners: Mapping[str, str]
) -> Mapping[str, frozenset[str]]:
    """Each variable, to the plugins that want it."""
    claims: dict[str, frozenset[str]] = {}
    for spec in providers:
        for variable in _variables(spec):
            claims[variable] = claims.get(variable, frozenset()) | {owners[spec.id]}
    return claims


def _variables(spec: ProviderSpec) -> tuple[str, ...]:
    return (*spec.environment, *spec.environment_data)


def _objection(variable: str, others: frozenset[str]) -> str:
    """Why a stranger does not get a variable; empty when it does."""
    if variable in OWN_VARIABLES or variable.startswith(SETTINGS):
        return "it is the gateway's own"
    if not others:
        return ""
    return f"plugin {' and '.join(sorted(others))} claims it too; add a connection instead"
