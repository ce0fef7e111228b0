"""GitHub Models: the models of several vendors by the key of a GitHub account.

API reference: https://docs.github.com/en/rest/models/inference

The key needs the permission ``models: read``.
"""

from gateway_core import Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GITHUB_MODELS = openai_compatible(
    ProviderSpec(
        id="github-models",
        name="GitHub Models",
        keys_url="https://github.com/settings/personal-access-tokens",
        base_url="https://models.github.ai/inference",
        models_url="https://models.github.ai/catalog/models",
        headers={"x-github-api-version": "2022-11-28"},
        environment=("GITHUB_TOKEN",),
        passthrough_models=True,
        models=(
            Model("openai/gpt-5", tools=True, reasoning=True, vision=True),
            Model("openai/gpt-5-mini", tools=True, reasoning=True, vision=True),
            Model("openai/gpt-4.1", tools=True, reasoning=False, vision=True),
            Model("openai/gpt-4.1-mini", tools=True, reasoning=False, vision=True),
            Model("openai/gpt-4o", tools=True, reasoning=False, vision=True),
            Model("openai/gpt-4o-mini", tools=True, reasoning=False, vision=True),
            Model("openai/text-embedding-3-small", kind=Kind.EMBEDDING),
            Model("openai/text-embedding-3-large", kind=Kind.EMBEDDING),
        ),
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GITHUB_MODELS]
