"""X5Lab: the models of many vendors behind one key.

The vendor: https://x5lab.dev
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

X5LAB = openai_compatible(
    ProviderSpec(
        id="x5lab",
        name="X5Lab",
        base_url="https://api.x5lab.dev/v1",
        environment=("X5LAB_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [X5LAB]
