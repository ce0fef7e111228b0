"""360 Zhinao: its own models and those of other Chinese vendors.

API reference: https://ai.360.com/platform/docs/overview
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

AI360 = openai_compatible(
    ProviderSpec(
        id="360ai",
        name="360 AI",
        base_url="https://api.360.cn/v1",
        environment=("AI360_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [AI360]
