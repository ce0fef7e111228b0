"""Baichuan: its own models.

API reference: https://platform.baichuan-ai.com/docs/api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BAICHUAN = openai_compatible(
    ProviderSpec(
        id="baichuan",
        name="Baichuan",
        base_url="https://api.baichuan-ai.com/v1",
        environment=("BAICHUAN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BAICHUAN]
