"""FriendliAI: open-weight models, serverless.

API reference: https://friendli.ai/docs/openapi/serverless/chat-completions
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

FRIENDLIAI = openai_compatible(
    ProviderSpec(
        id="friendliai",
        name="FriendliAI",
        base_url="https://api.friendli.ai/serverless/v1",
        environment=("FRIENDLI_TOKEN",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FRIENDLIAI]
