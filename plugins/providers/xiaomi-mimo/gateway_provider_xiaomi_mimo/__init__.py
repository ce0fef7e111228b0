"""Xiaomi: the MiMo models, and its token plan, whose regions Singapore is one of.

API reference: https://platform.xiaomimimo.com/docs
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

XIAOMI_MIMO = openai_compatible(
    ProviderSpec(
        id="xiaomi-mimo",
        name="Xiaomi MiMo",
        aliases=("mimo",),
        base_url="https://api.xiaomimimo.com/v1",
        other_formats={"claude": "https://api.xiaomimimo.com/anthropic/v1"},
        environment=("MIMO_API_KEY",),
        passthrough_models=True,
    )
)
XIAOMI_TOKENPLAN = openai_compatible(
    ProviderSpec(
        id="xiaomi-tokenplan",
        name="Xiaomi token plan",
        aliases=("xmtp",),
        base_url="https://token-plan-sgp.xiaomimimo.com/v1",
        base_urls=(
            "https://token-plan-cn.xiaomimimo.com/v1",
            "https://token-plan-ams.xiaomimimo.com/v1",
        ),
        environment=("XIAOMI_TOKENPLAN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [XIAOMI_MIMO, XIAOMI_TOKENPLAN]
