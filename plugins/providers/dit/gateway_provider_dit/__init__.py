"""Dit: the models of many vendors behind one key.

The vendor: https://dit.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DIT = openai_compatible(
    ProviderSpec(
        id="dit",
        name="Dit",
        base_url="https://api.dit.ai/v1",
        environment=("DIT_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DIT]
