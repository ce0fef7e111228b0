"""Poolside: the Laguna models.

API reference: https://docs.poolside.ai
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

POOLSIDE = openai_compatible(
    ProviderSpec(
        id="poolside",
        name="Poolside",
        aliases=("ps",),
        base_url="https://inference.poolside.ai/v1",
        environment=("POOLSIDE_API_KEY",),
        passthrough_models=True,
        models=(
            Model("poolside/laguna-s-2.1", tools=True),
            Model("poolside/laguna-xs-2.1", tools=True),
            Model("poolside/laguna-m.1", tools=True),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [POOLSIDE]
