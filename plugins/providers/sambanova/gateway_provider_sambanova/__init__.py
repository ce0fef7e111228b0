"""SambaNova: open-weight models on its own chips.

API reference: https://docs.sambanova.ai/docs/en/features/openai-compatibility
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

SAMBANOVA = openai_compatible(
    ProviderSpec(
        id="sambanova",
        name="SambaNova",
        base_url="https://api.sambanova.ai/v1",
        environment=("SAMBANOVA_API_KEY",),
        passthrough_models=True,
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SAMBANOVA]
