"""SenseNova: SenseTime's models.

API reference: https://platform.sensenova.cn/doc
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

SENSENOVA = openai_compatible(
    ProviderSpec(
        id="sensenova",
        name="SenseNova",
        base_url="https://token.sensenova.cn/v1",
        environment=("SENSENOVA_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [SENSENOVA]
