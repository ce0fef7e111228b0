"""Factory: models for its coding agents.

API reference: https://docs.factory.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FACTORY = openai_compatible(
    ProviderSpec(
        id="factory",
        name="Factory",
        base_url="https://api.factory.ai/v1",
        environment=("FACTORY_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FACTORY]
