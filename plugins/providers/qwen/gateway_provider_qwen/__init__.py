"""Qwen: Alibaba Cloud Model Studio over chat completions, and over messages.

API reference: https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference/
Messages: https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages
Thinking: https://www.alibabacloud.com/help/en/model-studio/deep-thinking

Keys belong to a region. This is the international one; the Chinese one is a
provider of its own, and the host of any other, or of a single workspace, can
be saved as the account's ``baseUrl``.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from gateway_core import Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService

WORLD, MAINLAND = "https://dashscope-intl.aliyuncs.com", "https://dashscope.aliyuncs.com"


def services(host: str) -> tuple[Service, ...]:
    """What a platform has besides chat.

    https://www.alibabacloud.com/help/en/model-studio/embedding: at most 10 inputs, and
    https://www.alibabacloud.com/help/en/model-studio/rerank
    """
    ranking = PassThroughService("/reranks", base_url=f"{host}/compatible-api/v1")
    embedding = PassThroughService("/embeddings", batch_limit=10)
    return Service(Kind.EMBEDDING, embedding), Service(Kind.RERANK, ranking)


def qwen(context: int | None, *ids: str, reasoning: bool | None = True) -> Iterator[Model]:
    for id in ids:
        yield Model(id, context=context, tools=True, reasoning=reasoning)


QWEN = openai_compatible(
    ProviderSpec(
        id="qwen",
        name="Alibaba Cloud Model Studio",
        keys_url="https://modelstudio.console.alibabacloud.com",
        aliases=("alibaba", "dashscope"),
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        other_formats={"claude": "https://dashscope-intl.aliyuncs.com/apps/anthropic/v1"},
        environment=("DASHSCOPE_API_KEY",),
        models=(
            *qwen(1_000_000, "qwen3.8-max", "qwen3.8-flash", "qwen3.7-max", "qwen3.7-plus"),
            *qwen(1_000_000, "qwen3.6-plus", "qwen3.5-plus", "qwen-plus", "qwen-flash"),
            *qwen(262_144, "qwen3-max"),
            *qwen(1_000_000, "qwen3-coder-plus", "qwen3-coder-flash", reasoning=False),
            Model("text-embedding-v4", kind=Kind.EMBEDDING, price=Price(input=0.07)),
            Model("qwen3-rerank", kind=Kind.RERANK, price=Price(input=0.1)),
        ),
        services=services(WORLD),
        options={
            "max_tokens": True,
            "reasoning": "enable_thinking",
            "cache_control": True,
            "top_k": True,
            "video": True,
        },
    )
)

CHINA = replace(
    QWEN,
    id="alibaba-cn",
    name="Alibaba Cloud Model Studio (China)",
    keys_url="https://bailian.console.aliyun.com",
    aliases=(),
    base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
    models_url="https://dashscope.aliyuncs.com/compatible-mode/v1/models",
    other_formats={"claude": "https://dashscope.aliyuncs.com/apps/anthropic/v1"},
    services=services(MAINLAND),
    environment=(),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [QWEN, CHINA]
