"""Inference.net: open-weight models.

API reference: https://docs.inference.net
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

INFERENCE_NET = openai_compatible(
    ProviderSpec(
        id="inference-net",
        name="Inference.net",
        base_url="https://api.inference.net/v1",
        environment=("INFERENCE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [INFERENCE_NET]
