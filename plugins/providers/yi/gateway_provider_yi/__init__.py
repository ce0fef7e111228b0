"""01.AI: the Yi models.

API reference: https://platform.lingyiwanwu.com/docs/api-reference
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

YI = openai_compatible(
    ProviderSpec(
        id="yi",
        name="01.AI",
        base_url="https://api.lingyiwanwu.com/v1",
        environment=("YI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [YI]
