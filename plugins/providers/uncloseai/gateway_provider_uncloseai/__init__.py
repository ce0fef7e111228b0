"""UncloseAI: the Hermes models, for everybody.

API reference: https://uncloseai.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

UNCLOSEAI = openai_compatible(
    ProviderSpec(
        id="uncloseai",
        name="UncloseAI",
        base_url="https://hermes.ai.unturf.com/v1",
        environment=("UNCLOSEAI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [UNCLOSEAI]
