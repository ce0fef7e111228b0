"""Featherless: any open-weight model of the usual architectures.

API reference: https://featherless.ai/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FEATHERLESS_AI = openai_compatible(
    ProviderSpec(
        id="featherless-ai",
        name="Featherless",
        base_url="https://api.featherless.ai/v1",
        environment=("FEATHERLESS_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FEATHERLESS_AI]
