"""Vercel AI Gateway: the models of many vendors behind one key.

API reference: https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions
Pictures: https://vercel.com/docs/ai-gateway/image-generation/openai

Any id from https://vercel.com/ai-gateway/models is accepted.
"""

from collections.abc import Iterator

from gateway_core import Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible


def models(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


VERCEL = openai_compatible(
    ProviderSpec(
        id="vercel-ai-gateway",
        name="Vercel AI Gateway",
        keys_url="https://vercel.com/dashboard",
        aliases=("vercel",),
        base_url="https://ai-gateway.vercel.sh/v1",
        environment=("AI_GATEWAY_API_KEY",),
        passthrough_models=True,
        models=(
            *models(Kind.LLM, "anthropic/claude-sonnet-4", "google/gemini-3-pro-image"),
            *models(Kind.EMBEDDING, "openai/text-embedding-3-small"),
            *models(Kind.IMAGE, "google/imagen-4.0-ultra-generate-001"),
            *models(Kind.IMAGE, "google/imagen-4.0-generate-001"),
        ),
    ),
    services=("embedding", "image", "image/edit"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [VERCEL]
