"""Weights & Biases: open-weight models.

API reference: https://docs.wandb.ai/inference
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

WANDB = openai_compatible(
    ProviderSpec(
        id="wandb",
        name="W&B Inference",
        base_url="https://api.inference.wandb.ai/v1",
        environment=("WANDB_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [WANDB]
