"""Chutes: open-weight models on a decentralised network.

API reference: https://chutes.ai/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CHUTES = openai_compatible(
    ProviderSpec(
        id="chutes",
        name="Chutes",
        aliases=("ch",),
        base_url="https://llm.chutes.ai/v1",
        environment=("CHUTES_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CHUTES]
