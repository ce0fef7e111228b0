"""iFlytek Spark: its own models.

API reference: https://www.xfyun.cn/doc/spark/HTTP%E8%B0%83%E7%94%A8%E6%96%87%E6%A1%A3.html
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

IFLYTEK = openai_compatible(
    ProviderSpec(
        id="iflytek",
        name="iFlytek Spark",
        base_url="https://spark-api.xf-yun.com/v1",
        environment=("IFLYTEK_API_KEY",),
        passthrough_models=True,
    )
)
SPARKDESK = openai_compatible(
    ProviderSpec(
        id="sparkdesk",
        name="SparkDesk",
        base_url="https://spark-api.xf-yun.com/v3.1",
        environment=("SPARKDESK_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [IFLYTEK, SPARKDESK]
