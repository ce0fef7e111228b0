"""Tencent Hunyuan: its own models.

API reference: https://cloud.tencent.com/document/product/1729/111007
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

TENCENT = openai_compatible(
    ProviderSpec(
        id="tencent",
        name="Tencent Hunyuan",
        base_url="https://api.hunyuan.cloud.tencent.com/v1",
        environment=("HUNYUAN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TENCENT]
