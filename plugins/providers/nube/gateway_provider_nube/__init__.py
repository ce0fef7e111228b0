"""Nube: open-weight models.

The vendor: https://nube.sh
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

NUBE = openai_compatible(
    ProviderSpec(
        id="nube",
        name="Nube",
        base_url="https://ai.nube.sh/api/v1",
        environment=("NUBE_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NUBE]
