"""BluesMinds: the models of many vendors behind one key.

The vendor: https://bluesminds.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BLUESMINDS = openai_compatible(
    ProviderSpec(
        id="bluesminds",
        name="BluesMinds",
        base_url="https://api.bluesminds.com/v1",
        environment=("BLUESMINDS_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BLUESMINDS]
