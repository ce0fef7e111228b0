"""AgentRouter: models for coding tools, over messages.

API reference: https://docs.agentrouter.org
"""

from gateway_core import Auth, ProviderSpec, hookimpl

AGENTROUTER = ProviderSpec(
    id="agentrouter",
    name="AgentRouter",
    format="claude",
    base_url="https://agentrouter.org/v1",
    url_suffix="?beta=true",
    auth=Auth(type="apikey"),
    environment=("AGENTROUTER_API_KEY",),
    passthrough_models=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [AGENTROUTER]
