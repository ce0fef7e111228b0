"""LLM7: the models of many vendors behind one key.

API reference: https://docs.llm7.io
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LLM7 = openai_compatible(
    ProviderSpec(
        id="llm7",
        name="LLM7",
        base_url="https://api.llm7.io/v1",
        environment=("LLM7_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LLM7]
