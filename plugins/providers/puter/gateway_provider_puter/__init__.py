"""Puter: the models of many vendors, paid for by the signed-in user.

API reference: https://docs.puter.com/AI
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

PUTER = openai_compatible(
    ProviderSpec(
        id="puter",
        name="Puter",
        base_url="https://api.puter.com/puterai/openai/v1",
        environment=("PUTER_AUTH_TOKEN",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [PUTER]
