"""Scaleway: open-weight models in Europe.

API reference: https://www.scaleway.com/en/docs/generative-apis
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

SCALEWAY = openai_compatible(
    ProviderSpec(
        id="scaleway",
        name="Scaleway",
        base_url="https://api.scaleway.ai/v1",
        environment=("SCW_SECRET_KEY",),
        passthrough_models=True,
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SCALEWAY]
