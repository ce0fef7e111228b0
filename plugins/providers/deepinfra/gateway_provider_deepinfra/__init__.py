"""DeepInfra: open-weight models, and embeddings, images and speech.

API reference: https://deepinfra.com/docs/openai_api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DEEPINFRA = openai_compatible(
    ProviderSpec(
        id="deepinfra",
        name="DeepInfra",
        base_url="https://api.deepinfra.com/v1/openai",
        environment=("DEEPINFRA_API_KEY",),
        passthrough_models=True,
    ),
    services=("embedding", "image"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DEEPINFRA]
