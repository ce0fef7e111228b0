"""v0: Vercel's models for web applications.

API reference: https://v0.app/docs/api/model
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

V0_VERCEL = openai_compatible(
    ProviderSpec(
        id="v0-vercel",
        name="v0",
        base_url="https://api.v0.dev/v1",
        environment=("V0_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [V0_VERCEL]
