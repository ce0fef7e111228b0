"""HCNSEC: the models of many vendors behind one key.

The vendor: https://hcnsec.cn
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

HCNSEC = openai_compatible(
    ProviderSpec(
        id="hcnsec",
        name="HCNSEC",
        base_url="https://api.hcnsec.cn/v1",
        environment=("HCNSEC_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HCNSEC]
