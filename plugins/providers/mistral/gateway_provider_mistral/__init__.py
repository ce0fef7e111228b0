"""Mistral: its own models over chat completions.

API reference: https://docs.mistral.ai/api/

Members that the API does not know are refused rather than ignored. It reports
usage with every stream without being asked, a tool call's id must have nine
letters or digits, and thinking is a piece of the content.
"""

from gateway_core import Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

MISTRAL = openai_compatible(
    ProviderSpec(
        id="mistral",
        name="Mistral",
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
            Model("mistral-embed", kind=Kind.EMBEDDING, context=8_192),
        ),
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
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MISTRAL]
