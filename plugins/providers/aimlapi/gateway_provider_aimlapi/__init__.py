"""AI/ML API: the models of many vendors behind one key.

API reference: https://docs.aimlapi.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

AIMLAPI = openai_compatible(
    ProviderSpec(
        id="aimlapi",
        name="AI/ML API",
        base_url="https://api.aimlapi.com/v1",
        environment=("AIMLAPI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [AIMLAPI]
