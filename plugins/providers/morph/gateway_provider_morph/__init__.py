"""Morph: models that apply edits to code.

API reference: https://docs.morphllm.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

MORPH = openai_compatible(
    ProviderSpec(
        id="morph",
        name="Morph",
        base_url="https://api.morphllm.com/v1",
        environment=("MORPH_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MORPH]
