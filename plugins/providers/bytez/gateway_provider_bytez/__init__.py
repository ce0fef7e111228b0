"""Bytez: open-weight models, one deployment for each.

API reference: https://docs.bytez.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BYTEZ = openai_compatible(
    ProviderSpec(
        id="bytez",
        name="Bytez",
        base_url="https://api.bytez.com/models/v2/openai/v1",
        environment=("BYTEZ_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BYTEZ]
