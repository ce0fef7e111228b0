"""Triton Inference Server: models on the operator's own machines.

API reference: https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/client_guide/openai_readme.html
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

TRITON = openai_compatible(
    ProviderSpec(
        id="triton",
        name="Triton",
        base_url="http://localhost:9000/v1",
        auth=Auth(type="optional"),
        environment=("TRITON_API_KEY",),
        environment_data={"TRITON_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [TRITON]
