"""GetGoAPI: the models of many vendors behind one key.

The vendor: https://getgoapi.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GETGOAPI = openai_compatible(
    ProviderSpec(
        id="getgoapi",
        name="GetGoAPI",
        base_url="https://api.getgoapi.com/v1",
        environment=("GETGOAPI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GETGOAPI]
