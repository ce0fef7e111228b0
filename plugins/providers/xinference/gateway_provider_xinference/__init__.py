"""Xinference: models on the operator's own machines.

API reference: https://inference.readthedocs.io/en/latest/reference
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

XINFERENCE = openai_compatible(
    ProviderSpec(
        id="xinference",
        name="Xinference",
        base_url="http://localhost:9997/v1",
        auth=Auth(type="optional"),
        environment=("XINFERENCE_API_KEY",),
        environment_data={"XINFERENCE_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    ),
    services=("embedding",),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [XINFERENCE]
