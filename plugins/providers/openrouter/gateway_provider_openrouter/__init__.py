"""OpenRouter: the models of many vendors behind one key.

API reference: https://openrouter.ai/docs/api-reference/overview
Thinking: https://openrouter.ai/docs/use-cases/reasoning-tokens

Any id from https://openrouter.ai/models is accepted. Clients that speak
responses or messages are passed through to the endpoints that exist for them.
Signing in gives a key: https://openrouter.ai/docs/use-cases/oauth-pkce
"""

from collections.abc import Iterator

from gateway_core import Auth, Kind, Model, OAuth, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService, images


def other(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


OPENROUTER = openai_compatible(
    ProviderSpec(
        id="openrouter",
        name="OpenRouter",
        keys_url="https://openrouter.ai/settings/keys",
        base_url="https://openrouter.ai/api/v1",
        responses_url="https://openrouter.ai/api/v1/responses",
        other_formats={"claude": "https://openrouter.ai/api/v1"},
        beginnings=("deepseek-",),
        environment=("OPENROUTER_API_KEY",),
        auth=Auth(type="apikey"),
        oauth=OAuth(
            flow="key",
            authorize_url="https://openrouter.ai/auth",
            token_url="https://openrouter.ai/api/v1/auth/keys",
            client_id="",  # It knows applications by the address that a browser comes back to.
        ),
        passthrough_models=True,
        # https://openrouter.ai/docs/features/model-routing
        variants=(":nitro", ":floor", ":exacto", ":online"),
        models=(
            *other(Kind.EMBEDDING, "openai/text-embedding-3-large"),
            *other(Kind.EMBEDDING, "openai/text-embedding-3-small"),
            *other(Kind.EMBEDDING, "openai/text-embedding-ada-002", "qwen/qwen3-embedding-8b"),
            *other(Kind.EMBEDDING, "perplexity/pplx-embed-v1-4b", "perplexity/pplx-embed-v1-0.6b"),
            *other(Kind.EMBEDDING, "nvidia/llama-nemotron-embed-vl-1b-v2:free"),
            *other(Kind.SPEECH, "openai/gpt-4o-mini-tts", "openai/tts-1-hd", "openai/tts-1"),
            *other(Kind.IMAGE, "openai/gpt-image-1", "openai/dall-e-3"),
            *other(
                Kind.IMAGE, "google/imagen-3.0-generate-002", "black-forest-labs/FLUX.1-schnell"
            ),
            *other(
                Kind.RERANK, "cohere/rerank-4-pro", "cohere/rerank-4-fast", "cohere/rerank-v3.5"
            ),
            *other(Kind.RERANK, "nvidia/llama-nemotron-rerank-vl-1b-v2:free"),
            *other(Kind.DECISION, "typesafe/jev-1.13"),
        ),
        # https://openrouter.ai/docs/api-reference/images: not below /images/generations.
        services=(Service(Kind.IMAGE, PassThroughService("/images", units=images)),),
        options={
            "reasoning": "openrouter",
            "reasoning_content": "reasoning_details",
            "cache_control": True,
            "top_k": True,
            "min_p": True,
            "video": True,
            "documents": "file_or_url",
            "web_search": "plugins",
        },
    ),
    services=("embedding", "rerank", "systemone", "tts", "stt"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OPENROUTER]
