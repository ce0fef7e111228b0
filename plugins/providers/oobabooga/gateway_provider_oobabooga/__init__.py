"""Text generation web UI: models on the operator's own computer.

API reference: https://github.com/oobabooga/text-generation-webui/wiki/12-%E2%80%90-OpenAI-API
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

OOBABOOGA = openai_compatible(
    ProviderSpec(
        id="oobabooga",
        name="Text generation web UI",
        base_url="http://localhost:5000/v1",
        auth=Auth(type="optional"),
        environment=("OOBABOOGA_API_KEY",),
        environment_data={"OOBABOOGA_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OOBABOOGA]
