"""9Router: subscriptions behind a gateway on the operator's own computer.

The vendor: https://9router.com
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

NINE_ROUTER = openai_compatible(
    ProviderSpec(
        id="9router",
        name="9Router",
        base_url="http://127.0.0.1:20130/v1",
        auth=Auth(type="optional"),
        environment=("NINEROUTER_API_KEY",),
        environment_data={"NINEROUTER_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [NINE_ROUTER]
