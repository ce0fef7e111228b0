"""Novita: open-weight models.

API reference: https://novita.ai/docs/guides/llm-api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

NOVITA = openai_compatible(
    ProviderSpec(
        id="novita",
        name="Novita",
        base_url="https://api.novita.ai/openai/v1",
        environment=("NOVITA_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NOVITA]
