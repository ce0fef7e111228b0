"""LlamaGate: open-weight models.

The vendor: https://llamagate.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LLAMAGATE = openai_compatible(
    ProviderSpec(
        id="llamagate",
        name="LlamaGate",
        base_url="https://llamagate.ai/v1",
        environment=("LLAMAGATE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LLAMAGATE]
