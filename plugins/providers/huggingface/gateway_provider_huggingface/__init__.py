"""Hugging Face: open-weight models, routed to whoever serves them.

API reference: https://huggingface.co/docs/inference-providers/tasks/chat-completion

Any id from the hub is accepted, with a server after a colon where one is
wanted: ``openai/gpt-oss-120b:cerebras``, ``:fastest``, ``:cheapest``.
"""

from gateway_core import Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

HUGGINGFACE = openai_compatible(
    ProviderSpec(
        id="huggingface",
        name="Hugging Face",
        aliases=("hf",),
        base_url="https://router.huggingface.co/v1",
        environment=("HF_TOKEN",),
        passthrough_models=True,
        # https://huggingface.co/docs/inference-providers/index
        variants=(":fastest", ":cheapest", ":preferred"),
        models=(
            Model("openai/gpt-oss-120b", context=131_072, tools=True, reasoning=True, vision=False),
            Model("black-forest-labs/FLUX.1-schnell", kind=Kind.IMAGE),
            Model("stabilityai/stable-diffusion-xl-base-1.0", kind=Kind.IMAGE),
        ),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HUGGINGFACE]
