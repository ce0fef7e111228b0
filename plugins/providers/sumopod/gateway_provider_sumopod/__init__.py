"""SumoPod: the models of many vendors behind one key.

The vendor: https://sumopod.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

SUMOPOD = openai_compatible(
    ProviderSpec(
        id="sumopod",
        name="SumoPod",
        base_url="https://ai.sumopod.com/v1",
        environment=("SUMOPOD_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SUMOPOD]
