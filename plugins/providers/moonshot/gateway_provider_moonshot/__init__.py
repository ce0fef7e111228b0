"""Moonshot: the Kimi models, on the open platform and on the coding plan.

API reference: https://platform.kimi.ai/docs/api/chat
Coding plan: https://www.kimi.com/code/docs/en/

The platform speaks chat completions, responses and messages. The plan has a
host and keys of its own and is a provider of its own, which speaks messages
first.
"""

from collections.abc import Iterator

from gateway_core import Auth, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible
from gateway_providers.services import chat_search_model

from .search import SEARCH

FIXED = ("temperature", "top_p", "n", "presence_penalty", "frequency_penalty")
"""Sampling that the platform sets itself; another value is refused."""


def kimi(context: int, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, context=context, tools=True, reasoning=True, vision=True, unsupported=FIXED)


MOONSHOT = openai_compatible(
    ProviderSpec(
        id="moonshot",
        name="Moonshot AI",
        keys_url="https://platform.moonshot.ai/console/api-keys",
        aliases=("kimi",),
        base_url="https://api.moonshot.ai/v1",
        responses_url="https://api.moonshot.ai/v1/responses",
        other_formats={"claude": "https://api.moonshot.ai/anthropic/v1"},
        environment=("MOONSHOT_API_KEY",),
        models=(
            *kimi(1_048_576, "kimi-k3"),
            *kimi(262_144, "kimi-k2.7-code", "kimi-k2.7-code-highspeed", "kimi-k2.6", "kimi-k2.5"),
            Model("moonshot-v1-128k", context=131_072, tools=True, reasoning=False),
            Model("moonshot-v1-32k", context=32_768, tools=True, reasoning=False),
            # https://platform.kimi.ai/docs/pricing/tools: $0.005 for a search
            chat_search_model(0.005, input=0.6, output=3.0),
        ),
        services=(SEARCH,),
        options={
            "max_tokens": False,
            "reasoning": "thinking",
            "reasoning_content": "reasoning_content",
            "video": True,
        },
    )
)

PLAN = ProviderSpec(
    id="kimi-coding-apikey",
    name="Kimi coding plan",
    keys_url="https://www.kimi.com/code/console",
    format="claude",
    base_url="https://api.kimi.com/coding/v1",
    other_formats={"openai": "https://api.kimi.com/coding/v1"},
    models_url="https://api.kimi.com/coding/v1/models",
    auth=Auth(type="apikey"),
    environment=("KIMI_API_KEY",),
    models=(
        Model("k3", tools=True, reasoning=True),
        Model("k3-256k", tools=True, reasoning=True),
        Model("kimi-for-coding", tools=True, reasoning=True),
        Model("kimi-for-coding-highspeed", tools=True, reasoning=True),
    ),
    options={"reasoning": "thinking", "reasoning_content": "reasoning_content"},
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MOONSHOT, PLAN]
