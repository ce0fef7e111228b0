"""Chenzk: the models of many vendors behind one key.

The vendor: https://chenzk.top
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CHENZK = openai_compatible(
    ProviderSpec(
        id="chenzk",
        name="Chenzk",
        base_url="https://chenzk.top/v1",
        environment=("CHENZK_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CHENZK]
