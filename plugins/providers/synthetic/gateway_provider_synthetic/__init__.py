"""Synthetic: open-weight models.

API reference: https://dev.synthetic.new/docs/api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

SYNTHETIC = openai_compatible(
    ProviderSpec(
        id="synthetic",
        name="Synthetic",
        base_url="https://api.synthetic.new/openai/v1",
        environment=("SYNTHETIC_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SYNTHETIC]
