"""Reka: its own models, which read pictures, sound and video. The key rides in ``X-Api-Key``.

API reference: https://docs.reka.ai
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

REKA = openai_compatible(
    ProviderSpec(
        id="reka",
        name="Reka",
        base_url="https://api.reka.ai/v1",
        auth=Auth(header="x-api-key", scheme="raw"),
        environment=("REKA_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [REKA]
