"""Blackbox: the models of many vendors behind one key.

API reference: https://docs.blackbox.ai/api-reference/chat
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BLACKBOX = openai_compatible(
    ProviderSpec(
        id="blackbox",
        name="Blackbox AI",
        aliases=("bb",),
        base_url="https://api.blackbox.ai/v1",
        environment=("BLACKBOX_API_KEY",),
        passthrough_models=True,
        models=(
            Model("gpt-4o", tools=True),
            Model("gpt-4o-mini", tools=True),
            Model("claude-sonnet-4.6", tools=True),
            Model("claude-sonnet-4.5", tools=True),
            Model("claude-opus-4.6", tools=True),
            Model("claude-sonnet-4-6", tools=True),
            Model("claude-opus-4-6", tools=True),
            Model("deepseek-chat", tools=True),
            Model("deepseek-v3-671b", tools=True),
            Model("deepseek-r1", tools=True),
            Model("o1", tools=True),
            Model("o3-mini", tools=True),
            Model("gemini-2.5-flash", tools=True),
            Model("gemini-3-flash-preview", tools=True),
            Model("qwen3-coder-plus", tools=True),
            Model("qwen3-max", tools=True),
            Model("qwen3-vl-plus", tools=True),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BLACKBOX]
