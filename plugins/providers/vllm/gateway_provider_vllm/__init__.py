"""vLLM: open-weight models on the operator's own machines.

API reference: https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html

``VLLM_BASE_URL`` or the account's ``baseUrl`` names the server, with its ``/v1``;
``VLLM_API_KEY`` is what the server calls its key, where it asks for one. Which
models there are is the server's business, so none is listed here.
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

VLLM = openai_compatible(
    ProviderSpec(
        id="vllm",
        name="vLLM",
        base_url="http://localhost:8000/v1",
        auth=Auth(type="optional"),
        environment=("VLLM_API_KEY",),
        environment_data={"VLLM_BASE_URL": "baseUrl"},
        timeout_ms=600_000,
        passthrough_models=True,
        options={"max_tokens": True, "top_k": True, "min_p": True, "video": True},
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [VLLM]
