"""OpenCode Go: open-weight models for coding, over three formats.

API reference: https://opencode.ai/docs/go
"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

OPENCODE_GO = openai_compatible(
    ProviderSpec(
        id="opencode-go",
        name="OpenCode Go",
        aliases=("ocg",),
        base_url="https://opencode.ai/zen/go/v1",
        responses_url="https://opencode.ai/zen/go/v1/responses",
        other_formats={"claude": "https://opencode.ai/zen/go/v1"},
        environment=("OPENCODE_GO_API_KEY",),
        passthrough_models=True,
        models=(
            Model("kimi-k2.6", tools=True),
            Model("kimi-k2.5", tools=True),
            Model("glm-5.1", tools=True),
            Model("glm-5", tools=True),
            Model("qwen3.5-plus", tools=True),
            Model("qwen3.6-plus", tools=True),
            Model("mimo-v2-pro", tools=True),
            Model("mimo-v2-omni", tools=True),
            Model("minimax-m2.7", format="claude", tools=True),
            Model("minimax-m2.5", format="claude", tools=True),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OPENCODE_GO]
