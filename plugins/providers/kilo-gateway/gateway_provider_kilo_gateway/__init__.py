"""Kilo: the models of many vendors; some answer without a key.

API reference: https://kilo.ai/docs
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

KILO_GATEWAY = openai_compatible(
    ProviderSpec(
        id="kilo-gateway",
        name="Kilo Gateway",
        base_url="https://api.kilo.ai/api/gateway",
        auth=Auth(type="optional"),
        environment=("KILO_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [KILO_GATEWAY]
