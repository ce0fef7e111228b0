"""FreeAIAPIKey: the models of many vendors behind one key.

The vendor: https://freeaiapikey.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FREEAIAPIKEY = openai_compatible(
    ProviderSpec(
        id="freeaiapikey",
        name="FreeAIAPIKey",
        base_url="https://api.freeaiapikey.com/v1",
        environment=("FREEAIAPIKEY_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FREEAIAPIKEY]
