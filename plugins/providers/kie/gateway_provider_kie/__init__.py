"""Kie.ai: the models of many vendors behind one key.

API reference: https://docs.kie.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

KIE = openai_compatible(
    ProviderSpec(
        id="kie",
        name="Kie.ai",
        base_url="https://api.kie.ai/v1",
        environment=("KIE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [KIE]
