"""Fireworks: open-weight models, shared or on machines of one's own.

API reference: https://docs.fireworks.ai/api-reference/introduction
Messages: https://docs.fireworks.ai/tools-sdks/anthropic-compatibility

Models are named by resource: ``accounts/fireworks/models/…``.

Each model of speech has a host of its own: https://docs.fireworks.ai/guides/querying-asr-models
"""

from gateway_core import (
    Call,
    Credential,
    Kind,
    Model,
    Price,
    ProviderSpec,
    Service,
    ServiceExchange,
    Target,
    hookimpl,
)
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService, seconds

SHARED = "accounts/fireworks/models/"
TURBO = "whisper-v3-turbo"
HOSTS = ("audio-prod.api.fireworks.ai", "audio-turbo.api.fireworks.ai")


class Transcription:
    """Sends a recording to the host of its model."""

    def __init__(self) -> None:
        self._usual, self._turbo = (
            PassThroughService(
                "/audio/transcriptions", units=seconds, base_url=f"https://{host}/v1"
            )
            for host in HOSTS
        )

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        service = self._turbo if target.model.id == TURBO else self._usual
        return service.open(call, target, credential)


def ear(id: str, minute: float) -> Model:
    """A model at US dollars for each minute: https://fireworks.ai/pricing"""
    return Model(id, kind=Kind.TRANSCRIPTION, price=Price(units={"seconds": minute / 60}))


FIREWORKS = openai_compatible(
    ProviderSpec(
        id="fireworks",
        name="Fireworks AI",
        keys_url="https://app.fireworks.ai/settings/users/api-keys",
        base_url="https://api.fireworks.ai/inference/v1",
        other_formats={"claude": "https://api.fireworks.ai/inference/v1"},
        environment=("FIREWORKS_API_KEY",),
        passthrough_models=True,
        models=(
            Model(f"{SHARED}deepseek-v4-pro", context=1_048_576, tools=True, reasoning=True),
            Model(f"{SHARED}deepseek-v3p1", tools=True),
            Model(f"{SHARED}glm-5p2", context=1_040_000, tools=True, reasoning=True),
            Model(f"{SHARED}gpt-oss-120b", context=131_072, tools=True, reasoning=True),
            Model(f"{SHARED}kimi-k3", context=1_040_000, tools=True, reasoning=True),
            Model(f"{SHARED}llama-v3p3-70b-instruct", context=131_072, reasoning=False),
            Model(f"{SHARED}qwen3-235b-a22b", context=128_000, tools=True),
            Model("nomic-ai/nomic-embed-text-v1.5", kind=Kind.EMBEDDING, price=Price(input=0.008)),
            Model("fireworks/qwen3-embedding-8b", kind=Kind.EMBEDDING, price=Price(input=0.1)),
            Model("fireworks/qwen3-reranker-8b", kind=Kind.RERANK),
            ear("whisper-v3", 0.0015),
            ear(TURBO, 0.0009),
        ),
        hosts=HOSTS,
        services=(Service(Kind.TRANSCRIPTION, Transcription()),),
        options={
            "max_tokens": True,
            "reasoning_content": "reasoning_content",
            "top_k": True,
            "min_p": True,
        },
    ),
    services=("embedding", "rerank"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [FIREWORKS]
