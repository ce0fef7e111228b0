"""Liquid AI: the LFM models.

API reference: https://docs.liquid.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LIQUID = openai_compatible(
    ProviderSpec(
        id="liquid",
        name="Liquid AI",
        base_url="https://api.liquid.ai/v1",
        environment=("LIQUID_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LIQUID]
