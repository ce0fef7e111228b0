"""Baidu Qianfan: the ERNIE models and those of others.

API reference: https://cloud.baidu.com/doc/qianfan-api/s/3m7of64lb
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

BAIDU = openai_compatible(
    ProviderSpec(
        id="baidu",
        name="Baidu Qianfan",
        aliases=("qianfan",),
        base_url="https://qianfan.baidubce.com/v2",
        environment=("QIANFAN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [BAIDU]
