"""CrofAI: open-weight models.

The vendor: https://crof.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CROF = openai_compatible(
    ProviderSpec(
        id="crof",
        name="CrofAI",
        base_url="https://crof.ai/v1",
        environment=("CROF_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CROF]
