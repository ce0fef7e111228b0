"""B.AI: the models of many vendors behind one key.

The vendor: https://b.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BAI = openai_compatible(
    ProviderSpec(
        id="bai",
        name="B.AI",
        base_url="https://api.b.ai/v1",
        environment=("BAI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BAI]
