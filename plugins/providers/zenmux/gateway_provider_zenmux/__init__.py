"""ZenMux: the models of many vendors behind one key.

API reference: https://docs.zenmux.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

ZENMUX = openai_compatible(
    ProviderSpec(
        id="zenmux",
        name="ZenMux",
        base_url="https://zenmux.ai/api/v1",
        environment=("ZENMUX_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ZENMUX]
