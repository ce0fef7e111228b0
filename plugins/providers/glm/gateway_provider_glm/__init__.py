"""Z.ai: the GLM models over chat completions, and over messages for clients that speak those.

API reference: https://docs.z.ai/api-reference/introduction
Thinking: https://docs.z.ai/guides/capabilities/thinking-mode

A key of the coding plan has a host path of its own: save
``https://api.z.ai/api/coding/paas/v4`` as the account's ``baseUrl``. The
Chinese platform is a provider of its own, because its keys are.
"""

from msgspec.structs import replace

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GLM = openai_compatible(
    ProviderSpec(
        id="glm",
        name="Z.ai",
        alias="zai",
        base_url="https://api.z.ai/api/paas/v4",
        other_formats={"claude": "https://api.z.ai/api/anthropic/v1"},
        environment=("ZAI_API_KEY", "Z_AI_API_KEY"),
        models=(
            Model("glm-5.3", context=1_000_000, tools=True, reasoning=True),
            Model("glm-5.2", context=1_000_000, tools=True, reasoning=True),
            Model("glm-5.1", tools=True, reasoning=True),
            Model("glm-5", tools=True, reasoning=True),
            Model("glm-5-turbo", tools=True, reasoning=True),
            Model("glm-4.7", context=200_000, max_output=128_000, tools=True, reasoning=True),
            Model("glm-4.6", context=200_000, max_output=128_000, tools=True, reasoning=True),
            Model("glm-4.5", context=128_000, max_output=96_000, tools=True, reasoning=True),
            Model("glm-4.5-air", context=128_000, max_output=96_000, tools=True, reasoning=True),
            Model("glm-4.6v", context=128_000, tools=True, reasoning=True, vision=True),
        ),
        options={
            "max_tokens": True,
            "reasoning": "thinking",
            "reasoning_content": "reasoning_content",
            "json_schema": False,
            "video": True,
            "documents": "file_url",
        },
    )
)

CHINA = replace(
    GLM,
    id="glm-cn",
    name="Zhipu AI",
    alias=None,
    base_url="https://open.bigmodel.cn/api/paas/v4",
    models_url="https://open.bigmodel.cn/api/paas/v4/models",
    other_formats={"claude": "https://open.bigmodel.cn/api/anthropic/v1"},
    environment=("ZHIPUAI_API_KEY",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GLM, CHINA]
