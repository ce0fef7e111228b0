"""OrcaRouter: the models of many vendors behind one key.

API reference: https://docs.orcarouter.ai
"""

from collections.abc import Iterator

from gateway_core import Kind, Model, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible

from .videos import STATUS, SUBMISSION


def models(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


ORCAROUTER = openai_compatible(
    ProviderSpec(
        id="orcarouter",
        name="OrcaRouter",
        keys_url="https://www.orcarouter.ai",
        base_url="https://api.orcarouter.ai/v1",
        environment=("ORCAROUTER_API_KEY",),
        default_context=128_000,
        passthrough_models=True,
        models=(
            *models(Kind.LLM, "orcarouter/auto", "openai/gpt-5.5", "google/gemini-3.5-flash"),
            *models(Kind.LLM, "anthropic/claude-opus-4.8", "grok/grok-4.3"),
            *models(Kind.LLM, "deepseek/deepseek-v4-pro", "minimax/minimax-m2.7"),
            *models(Kind.LLM, "qwen/qwen3.7-max"),
            *models(Kind.EMBEDDING, "text-embedding-3-small"),
            *models(Kind.IMAGE, "gpt-image-1", "gpt-image-1-mini", "gpt-image-1.5"),
            *models(Kind.IMAGE, "grok-imagine-image", "grok-imagine-image-pro"),
            *models(Kind.SPEECH, "tts-1"),
            *models(Kind.VIDEO, "kling/kling-v3-omni", "kling/kling-v3", "kling/kling-v2-6"),
            *models(Kind.VIDEO, "kling/kling-v2-5-turbo", "kling/kling-video-o1"),
        ),
        services=(
            Service(Kind.VIDEO, SUBMISSION, "generations"),
            Service(Kind.VIDEO, STATUS, "status"),
        ),
    ),
    services=("embedding", "image", "tts"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ORCAROUTER]
