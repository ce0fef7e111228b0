"""Upstage: the Solar models.

API reference: https://console.upstage.ai/docs/capabilities/chat
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

UPSTAGE = openai_compatible(
    ProviderSpec(
        id="upstage",
        name="Upstage",
        base_url="https://api.upstage.ai/v1",
        environment=("UPSTAGE_API_KEY",),
        passthrough_models=True,
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [UPSTAGE]
