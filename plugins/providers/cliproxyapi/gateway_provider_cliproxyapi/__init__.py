"""CLIProxyAPI: subscriptions behind a gateway on the operator's own computer.

API reference: https://help.router-for.me
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CLIPROXYAPI = openai_compatible(
    ProviderSpec(
        id="cliproxyapi",
        name="CLIProxyAPI",
        base_url="http://127.0.0.1:8317/v1",
        auth=Auth(type="optional"),
        environment=("CLIPROXYAPI_API_KEY",),
        environment_data={"CLIPROXYAPI_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CLIPROXYAPI]
