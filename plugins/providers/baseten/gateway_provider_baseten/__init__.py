"""Baseten: open-weight models as shared endpoints.

API reference: https://docs.baseten.co/development/model-apis/overview
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BASETEN = openai_compatible(
    ProviderSpec(
        id="baseten",
        name="Baseten",
        base_url="https://inference.baseten.co/v1",
        environment=("BASETEN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BASETEN]
