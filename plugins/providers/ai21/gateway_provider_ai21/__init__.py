"""AI21: the Jamba models.

API reference: https://docs.ai21.com/reference/jamba-1-6-api-ref
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

AI21 = openai_compatible(
    ProviderSpec(
        id="ai21",
        name="AI21",
        base_url="https://api.ai21.com/studio/v1",
        environment=("AI21_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [AI21]
