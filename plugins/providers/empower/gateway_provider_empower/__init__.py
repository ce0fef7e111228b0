"""Empower: models tuned for calling tools.

API reference: https://docs.empower.dev
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

EMPOWER = openai_compatible(
    ProviderSpec(
        id="empower",
        name="Empower",
        base_url="https://app.empower.dev/api/v1",
        environment=("EMPOWER_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [EMPOWER]
