"""Coze: agents that are built there; a model's id is passed on as it stands.

API reference: https://www.coze.com/open/docs
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

COZE = openai_compatible(
    ProviderSpec(
        id="coze",
        name="Coze",
        base_url="https://api.coze.com/v1",
        environment=("COZE_API_KEY",),
        passthrough_models=True,
        models=(Model("claude-3-7-sonnet-20250514", tools=True),),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [COZE]
