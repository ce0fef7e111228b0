"""Poe: its bots and the models of many vendors.

API reference: https://creator.poe.com/docs/external-applications/openai-compatible-api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

POE = openai_compatible(
    ProviderSpec(
        id="poe",
        name="Poe",
        base_url="https://api.poe.com/v1",
        environment=("POE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [POE]
