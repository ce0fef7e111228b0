"""TokenRouter: the models of many vendors behind one key.

The vendor: https://tokenrouter.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

TOKENROUTER = openai_compatible(
    ProviderSpec(
        id="tokenrouter",
        name="TokenRouter",
        base_url="https://api.tokenrouter.com/v1",
        environment=("TOKENROUTER_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TOKENROUTER]
