"""Mistral: its own models over chat completions.

API reference: https://docs.mistral.ai/api/

Members that the API does not know are refused rather than ignored. It reports
usage with every stream without being asked, a tool call's id must have nine
letters or digits, and thinking is a piece of the content.
"""

from gateway_core import Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService

# https://docs.mistral.ai/api/endpoint/embeddings
EMBEDDING = PassThroughService(
    "/embeddings", rename={"dimensions": "output_dimension"}, drop=("user", "input_type")
)

MISTRAL = openai_compatible(
    ProviderSpec(
        id="mistral",
        name="Mistral",
        keys_url="https://console.mistral.ai/api-keys",
        base_url="https://api.mistral.ai/v1",
        environment=("MISTRAL_API_KEY",),
        models=(
            Model(
                "mistral-large-latest", context=262_144, tools=True, reasoning=False, vision=True
            ),
            Model(
                "mistral-medium-latest", context=262_144, tools=True, reasoning=True, vision=True
            ),
            Model("mistral-small-latest", context=262_144, tools=True, reasoning=True, vision=True),
            Model("codestral-latest", context=256_000, tools=True, reasoning=False, vision=False),
            Model("mistral-embed", kind=Kind.EMBEDDING, context=8_192, price=Price(input=0.1)),
            Model("codestral-embed", kind=Kind.EMBEDDING, price=Price(input=0.15)),
            Model("mistral-moderation-latest", kind=Kind.MODERATION),
            Model("voxtral-mini-latest", kind=Kind.TRANSCRIPTION),
            Model(
                "mistral-ocr-latest",
                kind=Kind.DOCUMENT_PARSING,
                price=Price(units={"pages": 0.002}),
            ),
        ),
        services=(Service(Kind.EMBEDDING, EMBEDDING),),
        drop=(
            "client_metadata",
            "logit_bias",
            "logprobs",
            "service_tier",
            "store",
            "stream_options",
            "top_logprobs",
            "user",
            "verbosity",
        ),
        rename={"seed": "random_seed", "max_completion_tokens": "max_tokens"},
        options={
            "max_tokens": True,
            "no_stream_usage": True,
            "short_ids": True,
            "reasoning_content": "content",
            "documents": "document_url",
        },
    ),
    services=("moderation", "document-parsing", "stt"),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MISTRAL]
