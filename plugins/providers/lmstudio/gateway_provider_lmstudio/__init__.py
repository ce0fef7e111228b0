"""LM Studio: models on the operator's own computer.

API reference: https://lmstudio.ai/docs/developer/openai-compat

``LMSTUDIO_BASE_URL`` or the account's ``baseUrl`` names another server, with its
``/v1``. A key is needed only where the server asks for one. Which models there
are is the server's business, so none is listed here.
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LMSTUDIO = openai_compatible(
    ProviderSpec(
        id="lmstudio",
        name="LM Studio",
        aliases=("lm-studio",),
        base_url="http://localhost:1234/v1",
        auth=Auth(type="optional"),
        environment=("LM_API_TOKEN",),
        environment_data={"LMSTUDIO_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        options={"max_tokens": True, "top_k": True},
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LMSTUDIO]
