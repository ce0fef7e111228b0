"""DGrid: the models of many vendors behind one key.

The vendor: https://dgrid.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DGRID = openai_compatible(
    ProviderSpec(
        id="dgrid",
        name="DGrid",
        base_url="https://api.dgrid.ai/v1",
        environment=("DGRID_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DGRID]
