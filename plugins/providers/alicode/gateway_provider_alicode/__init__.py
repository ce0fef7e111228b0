"""Alibaba's coding plan, in China and elsewhere; a key is good for one of them.

API reference: https://help.aliyun.com/zh/model-studio/coding-plan
"""

from gateway_core import Auth, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

ALICODE = openai_compatible(
    ProviderSpec(
        id="alicode",
        name="Alibaba coding plan (China)",
        base_url="https://coding.dashscope.aliyuncs.com/v1",
        environment=("ALICODE_API_KEY",),
        passthrough_models=True,
        models=(
            Model("qwen3.5-plus", tools=True),
            Model("kimi-k2.5", tools=True),
            Model("glm-5", tools=True),
            Model("MiniMax-M2.5", tools=True),
            Model("qwen3-max-2026-01-23", tools=True),
            Model("qwen3-coder-next", tools=True),
            Model("qwen3-coder-plus", tools=True),
            Model("glm-4.7", tools=True),
        ),
    )
)
ALICODE_INTL = openai_compatible(
    ProviderSpec(
        id="alicode-intl",
        name="Alibaba coding plan",
        base_url="https://coding-intl.dashscope.aliyuncs.com/v1",
        environment=("ALICODE_INTL_API_KEY",),
        passthrough_models=True,
        models=(
            Model("qwen3.5-plus", tools=True),
            Model("kimi-k2.5", tools=True),
            Model("glm-5", tools=True),
            Model("MiniMax-M2.5", tools=True),
            Model("qwen3-coder-next", tools=True),
            Model("qwen3-coder-plus", tools=True),
            Model("glm-4.7", tools=True),
        ),
    )
)
BAILIAN_CODING_PLAN = ProviderSpec(
    id="bailian-coding-plan",
    name="Alibaba coding plan over messages",
    format="claude",
    base_url="https://coding-intl.dashscope.aliyuncs.com/apps/anthropic/v1",
    auth=Auth(scheme="bearer"),
    environment=("BAILIAN_CODING_PLAN_API_KEY",),
    passthrough_models=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ALICODE, ALICODE_INTL, BAILIAN_CODING_PLAN]
