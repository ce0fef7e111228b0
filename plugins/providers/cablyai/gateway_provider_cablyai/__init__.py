"""CablyAI: the models of many vendors behind one key.

The vendor: https://cablyai.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CABLYAI = openai_compatible(
    ProviderSpec(
        id="cablyai",
        name="CablyAI",
        base_url="https://api.cablyai.com/v1",
        environment=("CABLYAI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CABLYAI]
