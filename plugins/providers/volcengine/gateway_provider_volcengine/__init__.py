"""Volcengine Ark: the Doubao models and those of others; the coding plan; and BytePlus,
its like outside China.

API reference: https://www.volcengine.com/docs/82379/1494384
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

VOLCENGINE = openai_compatible(
    ProviderSpec(
        id="volcengine",
        name="Volcengine",
        aliases=("doubao",),
        base_url="https://ark.cn-beijing.volces.com/api/v3",
        environment=("ARK_API_KEY",),
        passthrough_models=True,
    ),
    services=("embedding", "image"),
)
VOLCENGINE_ARK = openai_compatible(
    ProviderSpec(
        id="volcengine-ark",
        name="Volcengine coding plan",
        aliases=("ark",),
        base_url="https://ark.cn-beijing.volces.com/api/coding/v3",
        environment=("VOLCENGINE_CODING_API_KEY",),
        passthrough_models=True,
        models=(
            Model("Doubao-Seed-2.0-Code", tools=True),
            Model("Doubao-Seed-2.0-pro", tools=True),
            Model("Doubao-Seed-2.0-lite", tools=True),
            Model("Doubao-Seed-Code", tools=True),
            Model("GLM-5.1", tools=True),
            Model("MiniMax-M2.7", tools=True),
            Model("Kimi-K2.6", tools=True),
            Model("MiniMax-M2.5", tools=True),
            Model("Kimi-K2.5", tools=True),
            Model("GLM-4.7", tools=True),
            Model("DeepSeek-V3.2", tools=True),
        ),
    )
)
BYTEPLUS = openai_compatible(
    ProviderSpec(
        id="byteplus",
        name="BytePlus ModelArk",
        aliases=("bpm",),
        base_url="https://ark.ap-southeast.bytepluses.com/api/v3",
        environment=("BYTEPLUS_API_KEY",),
        passthrough_models=True,
        models=(
            Model("seed-2-0-pro-260328", tools=True),
            Model("seed-2-0-code-preview-260328", tools=True),
            Model("seed-2-0-mini-260215", tools=True),
            Model("seed-2-0-lite-260228", tools=True),
            Model("kimi-k2-thinking-251104", tools=True),
            Model("glm-4-7-251222", tools=True),
            Model("gpt-oss-120b-250805", tools=True),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [VOLCENGINE, VOLCENGINE_ARK, BYTEPLUS]
