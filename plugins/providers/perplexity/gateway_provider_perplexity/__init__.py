"""Perplexity: answers that are looked up on the web, with their sources.

API reference: https://docs.perplexity.ai/api-reference/chat-completions-post

Every answer rests on a search, so a client that asks for one has its wish; tools
of the client's own are not taken.
"""

from gateway_core import Kind, Model, Price, ProviderSpec, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import search_model

from .services import SERVICES

PERPLEXITY = openai_compatible(
    ProviderSpec(
        id="perplexity",
        name="Perplexity",
        keys_url="https://www.perplexity.ai/account/api/keys",
        aliases=("pplx", "perplexity-search"),
        base_url="https://api.perplexity.ai",
        environment=("PERPLEXITY_API_KEY",),
        timeout_ms=600_000,
        models=(
            Model("sonar-pro", context=200_000, tools=False, reasoning=False, vision=True),
            Model("sonar", context=128_000, tools=False, reasoning=False, vision=True),
            Model("sonar-reasoning-pro", context=128_000, tools=False, reasoning=True, vision=True),
            Model("sonar-deep-research", context=128_000, tools=False, reasoning=True),
            # https://docs.perplexity.ai/getting-started/pricing
            Model("pplx-embed-v1-0.6b", kind=Kind.EMBEDDING, price=Price(input=0.004)),
            Model("pplx-embed-v1-4b", kind=Kind.EMBEDDING, price=Price(input=0.03)),
            search_model(0.005),
        ),
        services=SERVICES,
        drop=("functions", "function_call", "parallel_tool_calls", "tools", "tool_choice"),
        options={
            "max_tokens": True,
            "top_k": True,
            "documents": "file_url",
            "web_search": "web_search_options",
        },
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [PERPLEXITY]
