"""Hack Club: models for its members.

API reference: https://docs.ai.hackclub.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

HACKCLUB = openai_compatible(
    ProviderSpec(
        id="hackclub",
        name="Hack Club",
        base_url="https://ai.hackclub.com/proxy/v1",
        environment=("HACKCLUB_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HACKCLUB]
