"""FenayAI: the models of many vendors behind one key.

The vendor: https://fenayai.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FENAYAI = openai_compatible(
    ProviderSpec(
        id="fenayai",
        name="FenayAI",
        base_url="https://api.fenayai.com/v1",
        environment=("FENAYAI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FENAYAI]
