"""Z.ai: the GLM models over chat completions, and over messages for clients that speak those.

API reference: https://docs.z.ai/api-reference/introduction
Thinking: https://docs.z.ai/guides/capabilities/thinking-mode

A key of the coding plan has a host path of its own: save
``https://api.z.ai/api/coding/paas/v4`` as the account's ``baseUrl``. The
Chinese platform is a provider of its own, because its keys are.
"""

from msgspec.structs import replace

from gateway_core import Kind, Model, Price, ProviderSpec, Service, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService, images, search_model

from .search import McpSearch

PICTURES = Service(
    Kind.IMAGE,
    # One picture is made, and its address is the answer: https://docs.z.ai/api-reference/image
    PassThroughService("/images/generations", units=images, drop=("n", "response_format")),
)

GLM = openai_compatible(
    ProviderSpec(
        id="glm",
        name="Z.ai",
        keys_url="https://z.ai/manage-apikey/apikey-list",
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
            Model("glm-image", kind=Kind.IMAGE, price=Price(units={"images": 0.015})),
            Model("cogview-4-250304", kind=Kind.IMAGE, price=Price(units={"images": 0.01})),
            Model("embedding-3", kind=Kind.EMBEDDING),
            search_model(0),
        ),
        services=(
            PICTURES,
            Service(Kind.SEARCH, McpSearch("https://api.z.ai/api/mcp/web_search_prime")),
        ),
        options={
            "max_tokens": True,
            "reasoning": "thinking",
            "reasoning_content": "reasoning_content",
            "json_schema": False,
            "video": True,
            "documents": "file_url",
        },
    ),
    services=("embedding",),
)

CHINA = replace(
    GLM,
    id="glm-cn",
    name="Zhipu AI",
    keys_url="https://open.bigmodel.cn/usercenter/apikeys",
    alias=None,
    base_url="https://open.bigmodel.cn/api/paas/v4",
    models_url="https://open.bigmodel.cn/api/paas/v4/models",
    other_formats={"claude": "https://open.bigmodel.cn/api/anthropic/v1"},
    services=(
        *(each for each in GLM.services if each.kind != Kind.SEARCH),
        Service(Kind.SEARCH, McpSearch("https://open.bigmodel.cn/api/mcp/web_search_prime")),
    ),
    environment=("ZHIPUAI_API_KEY",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GLM, CHINA]
