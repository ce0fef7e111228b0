"""Arcee: its Conductor, which chooses a model for each request.

API reference: https://docs.arcee.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

ARCEE_AI = openai_compatible(
    ProviderSpec(
        id="arcee-ai",
        name="Arcee AI",
        base_url="https://conductor.arcee.ai/v1",
        environment=("ARCEE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ARCEE_AI]
