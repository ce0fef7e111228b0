"""Cerebras: open-weight models on wafer-sized chips.

API reference: https://inference-docs.cerebras.ai/api-reference/chat-completions
What it rejects: https://inference-docs.cerebras.ai/resources/openai
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CEREBRAS = openai_compatible(
    ProviderSpec(
        id="cerebras",
        name="Cerebras",
        keys_url="https://cloud.cerebras.ai",
        base_url="https://api.cerebras.ai/v1",
        environment=("CEREBRAS_API_KEY",),
        models=(
            Model("gpt-oss-120b", context=131_072, max_output=40_960, tools=True, reasoning=True),
            Model("qwen-3.8-27b", context=65_536, max_output=32_768, tools=True, vision=True),
            Model("zai-glm-4.7", context=131_072, tools=True, reasoning=True),
            Model("llama-3.3-70b", context=128_000, tools=True, reasoning=False),
            Model("llama-4-scout-17b-16e-instruct", tools=True, reasoning=False),
            Model("qwen-3-235b-a22b-instruct-2507", context=131_072, tools=True, reasoning=False),
            Model("qwen-3-32b", context=131_072, tools=True, reasoning=True),
        ),
        drop=(
            "client_metadata",
            "frequency_penalty",
            "logit_bias",
            "metadata",
            "presence_penalty",
            "store",
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CEREBRAS]
