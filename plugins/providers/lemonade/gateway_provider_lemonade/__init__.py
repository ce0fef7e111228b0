"""Lemonade: models on the operator's own computer.

API reference: https://lemonade-server.ai/docs/server/server_spec
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LEMONADE = openai_compatible(
    ProviderSpec(
        id="lemonade",
        name="Lemonade",
        base_url="http://localhost:13305/api/v1",
        auth=Auth(type="optional"),
        environment=("LEMONADE_API_KEY",),
        environment_data={"LEMONADE_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LEMONADE]
