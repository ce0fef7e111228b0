"""TheB.AI: the models of many vendors behind one key.

API reference: https://docs.theb.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

THEBAI = openai_compatible(
    ProviderSpec(
        id="thebai",
        name="TheB.AI",
        base_url="https://api.theb.ai/v1",
        environment=("THEBAI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [THEBAI]
