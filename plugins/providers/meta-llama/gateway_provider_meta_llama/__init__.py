"""Meta's Llama API.

API reference: https://llama.developer.meta.com/docs/features/compatibility

The vendor's own programs read ``LLAMA_API_KEY``, and so does llama.cpp for a server of one's own; a
key must not go to both.
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

META_LLAMA = openai_compatible(
    ProviderSpec(
        id="meta-llama",
        name="Llama API",
        base_url="https://api.llama.com/compat/v1",
        environment=("META_LLAMA_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [META_LLAMA]
