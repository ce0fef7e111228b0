"""Kenari: the models of many vendors behind one key.

The vendor: https://kenari.id
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

KENARI = openai_compatible(
    ProviderSpec(
        id="kenari",
        name="Kenari",
        base_url="https://kenari.id/v1",
        environment=("KENARI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [KENARI]
