"""FreeModel: the models of many vendors behind one key.

The vendor: https://freemodel.dev
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FREEMODEL_DEV = openai_compatible(
    ProviderSpec(
        id="freemodel-dev",
        name="FreeModel",
        base_url="https://api.freemodel.dev/v1",
        environment=("FREEMODEL_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FREEMODEL_DEV]
