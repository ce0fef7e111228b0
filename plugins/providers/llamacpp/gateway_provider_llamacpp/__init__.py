"""llama.cpp: models in one file on the operator's own machine, through ``llama-server``.

API reference: https://github.com/ggml-org/llama.cpp/tree/master/tools/server

``LLAMACPP_BASE_URL`` or the account's ``baseUrl`` names another server, with its
``/v1``; ``LLAMA_API_KEY`` is what the server calls its key, where it asks for
one. The server speaks of whatever model it has loaded, so none is listed here.
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LLAMACPP = openai_compatible(
    ProviderSpec(
        id="llamacpp",
        name="llama.cpp",
        aliases=("llama-cpp", "llamafile"),
        base_url="http://localhost:8080/v1",
        auth=Auth(type="optional"),
        environment=("LLAMA_API_KEY",),
        environment_data={"LLAMACPP_BASE_URL": "baseUrl"},
        # A long prompt is read before the first byte of the answer.
        timeout_ms=600_000,
        passthrough_models=True,
        options={
            "max_tokens": True,
            "reasoning_content": "reasoning_content",
            "top_k": True,
            "min_p": True,
        },
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LLAMACPP]
