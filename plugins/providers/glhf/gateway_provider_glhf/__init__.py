"""glhf.chat: open-weight models.

API reference: https://glhf.chat/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GLHF = openai_compatible(
    ProviderSpec(
        id="glhf",
        name="GLHF",
        base_url="https://glhf.chat/api/openai/v1",
        environment=("GLHF_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GLHF]
