"""Gitlawb OpenGateway: two pools of models, each with its own path.

The vendor: https://gitlawb.com
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GITLAWB = openai_compatible(
    ProviderSpec(
        id="gitlawb",
        name="Gitlawb",
        base_url="https://opengateway.gitlawb.com/v1/xiaomi-mimo",
        environment=("GITLAWB_API_KEY",),
        passthrough_models=True,
    )
)
GITLAWB_GMI = openai_compatible(
    ProviderSpec(
        id="gitlawb-gmi",
        name="Gitlawb GMI Cloud",
        base_url="https://opengateway.gitlawb.com/v1/gmi-cloud",
        environment=("GITLAWB_GMI_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [GITLAWB, GITLAWB_GMI]
