"""BazaarLink: the models of many vendors behind one key.

The vendor: https://bazaarlink.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BAZAARLINK = openai_compatible(
    ProviderSpec(
        id="bazaarlink",
        name="BazaarLink",
        base_url="https://bazaarlink.ai/api/v1",
        environment=("BAZAARLINK_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BAZAARLINK]
