"""Perplexity's agent, over responses.

API reference: https://docs.perplexity.ai/api-reference/responses-post
"""

from gateway_core import Auth, ProviderSpec, hookimpl

PERPLEXITY_AGENT = ProviderSpec(
    id="perplexity-agent",
    name="Perplexity Agent",
    format="openai-responses",
    base_url="https://api.perplexity.ai/v1",
    auth=Auth(scheme="bearer"),
    environment=("PERPLEXITY_AGENT_API_KEY",),
    passthrough_models=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [PERPLEXITY_AGENT]
