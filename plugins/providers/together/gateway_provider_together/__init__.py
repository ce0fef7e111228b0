"""Together: open-weight models, and those of others for pictures, films and speech.

API reference: https://docs.together.ai/reference/chat-completions-1
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

from .models import MODELS
from .services import SERVICES

TOGETHER = openai_compatible(
    ProviderSpec(
        id="together",
        name="Together AI",
        keys_url="https://api.together.ai/settings/api-keys",
        base_url="https://api.together.xyz/v1",
        environment=("TOGETHER_API_KEY",),
        passthrough_models=True,
        # Videos are at another name of the vendor's.
        hosts=("api.together.ai",),
        models=MODELS,
        services=SERVICES,
        options={"max_tokens": True, "top_k": True, "min_p": True, "video": True},
    ),
    services=("embedding", "rerank", "tts", "stt", "stt/translation"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TOGETHER]
