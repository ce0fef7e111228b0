"""Qiniu: the models of many vendors behind one key.

API reference: https://developer.qiniu.com/aitokenapi
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

QINIU = openai_compatible(
    ProviderSpec(
        id="qiniu",
        name="Qiniu",
        base_url="https://api.qnaigc.com/v1",
        environment=("QINIU_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [QINIU]
