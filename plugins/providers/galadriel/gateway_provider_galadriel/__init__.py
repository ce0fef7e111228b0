"""Galadriel: models whose inference is attested.

API reference: https://docs.galadriel.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GALADRIEL = openai_compatible(
    ProviderSpec(
        id="galadriel",
        name="Galadriel",
        base_url="https://api.galadriel.com/v1/verified",
        environment=("GALADRIEL_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GALADRIEL]
