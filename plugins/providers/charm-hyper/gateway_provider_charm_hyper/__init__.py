"""Charm Hyper: models for Charm's coding tools.

The vendor: https://hyper.charm.land
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CHARM_HYPER = openai_compatible(
    ProviderSpec(
        id="charm-hyper",
        name="Charm Hyper",
        base_url="https://hyper.charm.land/v1",
        environment=("HYPER_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CHARM_HYPER]
