"""LongCat: Meituan's models.

API reference: https://longcat.chat/platform/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LONGCAT = openai_compatible(
    ProviderSpec(
        id="longcat",
        name="LongCat",
        base_url="https://api.longcat.chat/openai/v1",
        environment=("LONGCAT_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LONGCAT]
