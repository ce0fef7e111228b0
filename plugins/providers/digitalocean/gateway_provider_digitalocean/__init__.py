"""DigitalOcean Gradient: open-weight and commercial models, over three formats.

API reference: https://docs.digitalocean.com/products/gradient-ai-platform
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DIGITALOCEAN = openai_compatible(
    ProviderSpec(
        id="digitalocean",
        name="DigitalOcean",
        base_url="https://inference.do-ai.run/v1",
        responses_url="https://inference.do-ai.run/v1/responses",
        other_formats={"claude": "https://inference.do-ai.run/v1"},
        environment=("DIGITALOCEAN_INFERENCE_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DIGITALOCEAN]
