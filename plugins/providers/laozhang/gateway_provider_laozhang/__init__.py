"""LaoZhang: the models of many vendors behind one key.

API reference: https://docs.laozhang.ai
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LAOZHANG = openai_compatible(
    ProviderSpec(
        id="laozhang",
        name="LaoZhang",
        base_url="https://api.laozhang.ai/v1",
        environment=("LAOZHANG_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LAOZHANG]
