"""Api.Airforce: the models of many vendors behind one key.

API reference: https://api.airforce
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

API_AIRFORCE = openai_compatible(
    ProviderSpec(
        id="api-airforce",
        name="Api.Airforce",
        base_url="https://api.airforce/v1",
        environment=("AIRFORCE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [API_AIRFORCE]
