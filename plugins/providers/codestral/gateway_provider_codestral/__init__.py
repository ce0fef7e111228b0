"""Codestral: Mistral's code models, with a host and keys of their own.

API reference: https://docs.mistral.ai/capabilities/code_generation
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CODESTRAL = openai_compatible(
    ProviderSpec(
        id="codestral",
        name="Codestral",
        base_url="https://codestral.mistral.ai/v1",
        environment=("CODESTRAL_API_KEY",),
        passthrough_models=True,
        models=(Model("codestral-latest", tools=True),),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CODESTRAL]
