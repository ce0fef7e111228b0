"""OpenAI: the vendor whose chat completions and responses most others imitate.

API reference: https://platform.openai.com/docs/api-reference

Reasoning models are asked over the responses format, which the vendor
recommends for them: there a client of any format gets to see their thinking
and may have it back in the next turn. ``OPENAI_BASE_URL`` is deliberately not
read, because where it is set it often points at a gateway.
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import responses_search

from .models import MODELS
from .native import NATIVE
from .sockets import SOCKETS

OPENAI = openai_compatible(
    ProviderSpec(
        id="openai",
        name="OpenAI",
        keys_url="https://platform.openai.com/api-keys",
        base_url="https://api.openai.com/v1",
        responses_url="https://api.openai.com/v1/responses",
        other_formats={"openai-responses-compact": "https://api.openai.com/v1"},
        beginnings=("gpt-", "o1", "o3", "o4", ""),
        environment=("OPENAI_API_KEY",),
        # As long as the vendor's own client waits: a whole answer begins when it is complete.
        timeout_ms=600_000,
        models=MODELS,
        services=(responses_search("gpt-4o-mini"),),
        sockets=SOCKETS,
        native=NATIVE,
        options={"prompt_cache_key": True},
    ),
    services=(
        *("embedding", "moderation", "image", "image/edit"),
        *("tts", "stt", "stt/translation"),
    ),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OPENAI]
