"""Pollinations: models for everybody; a key raises the limits.

API reference: https://github.com/pollinations/pollinations/blob/main/APIDOCS.md
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

POLLINATIONS = openai_compatible(
    ProviderSpec(
        id="pollinations",
        name="Pollinations",
        base_url="https://gen.pollinations.ai/v1",
        auth=Auth(type="optional"),
        environment=("POLLINATIONS_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [POLLINATIONS]
