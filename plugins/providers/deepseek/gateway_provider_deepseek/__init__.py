"""DeepSeek: its own models over chat completions, and over messages for clients that speak those.

API reference: https://api-docs.deepseek.com/
Messages: https://api-docs.deepseek.com/guides/anthropic_api
Thinking: https://api-docs.deepseek.com/guides/thinking_mode
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DEEPSEEK = openai_compatible(
    ProviderSpec(
        id="deepseek",
        name="DeepSeek",
        keys_url="https://platform.deepseek.com/api_keys",
        aliases=("ds",),
        base_url="https://api.deepseek.com",
        other_formats={"claude": "https://api.deepseek.com/anthropic/v1"},
        environment=("DEEPSEEK_API_KEY",),
        models=(
            Model("deepseek-v4-pro", context=1_000_000, tools=True, reasoning=True, vision=False),
            Model("deepseek-flash", context=1_000_000, tools=True, reasoning=True),
            Model("deepseek-v4-flash", context=1_000_000, tools=True, reasoning=True),
            Model("deepseek-chat", tools=True),
            Model("deepseek-reasoner", tools=True, reasoning=True),
        ),
        options={
            "max_tokens": True,
            "reasoning": "thinking+effort",
            # A turn that thought before it called tools is refused without its thinking.
            "reasoning_content": "reasoning_content",
            "json_schema": False,
        },
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DEEPSEEK]
