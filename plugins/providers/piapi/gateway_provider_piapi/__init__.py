"""PiAPI: the models of many vendors behind one key.

API reference: https://piapi.ai/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

PIAPI = openai_compatible(
    ProviderSpec(
        id="piapi",
        name="PiAPI",
        base_url="https://api.piapi.ai/v1",
        environment=("PIAPI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [PIAPI]
