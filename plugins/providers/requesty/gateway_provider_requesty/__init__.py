"""Requesty: the models of many vendors behind one key.

API reference: https://docs.requesty.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

REQUESTY = openai_compatible(
    ProviderSpec(
        id="requesty",
        name="Requesty",
        base_url="https://router.requesty.ai/v1",
        environment=("REQUESTY_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [REQUESTY]
