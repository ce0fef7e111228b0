"""Venice: open-weight models without a log of what is asked.

API reference: https://docs.venice.ai/api-reference/endpoint/chat/completions
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

VENICE = openai_compatible(
    ProviderSpec(
        id="venice",
        name="Venice",
        base_url="https://api.venice.ai/api/v1",
        environment=("VENICE_API_KEY",),
        passthrough_models=True,
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [VENICE]
