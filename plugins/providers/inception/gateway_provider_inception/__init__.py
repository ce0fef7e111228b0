"""Inception: the Mercury diffusion models.

API reference: https://docs.inceptionlabs.ai
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

INCEPTION = openai_compatible(
    ProviderSpec(
        id="inception",
        name="Inception",
        base_url="https://api.inceptionlabs.ai/v1",
        environment=("INCEPTION_API_KEY",),
        passthrough_models=True,
        models=(Model("mercury-2", context=128000, max_output=50000, tools=True),),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [INCEPTION]
