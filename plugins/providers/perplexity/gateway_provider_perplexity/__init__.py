"""Perplexity: answers that are looked up on the web, with their sources.

API reference: https://docs.perplexity.ai/api-reference/chat-completions-post

Every answer rests on a search, so a client that asks for one has its wish; tools
of the client's own are not taken.
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

PERPLEXITY = openai_compatible(
    ProviderSpec(
        id="perplexity",
        name="Perplexity",
        aliases=("pplx",),
        base_url="https://api.perplexity.ai",
        environment=("PERPLEXITY_API_KEY",),
        timeout_ms=600_000,
        models=(
            Model("sonar-pro", context=200_000, tools=False, reasoning=False, vision=True),
            Model("sonar", context=128_000, tools=False, reasoning=False, vision=True),
            Model("sonar-reasoning-pro", context=128_000, tools=False, reasoning=True, vision=True),
            Model("sonar-deep-research", context=128_000, tools=False, reasoning=True),
        ),
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
