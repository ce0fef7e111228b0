"""IBM watsonx: the model gateway of its Toronto region; an account's ``baseUrl`` names
another.

API reference: https://cloud.ibm.com/apidocs/model-gateway
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

WATSONX = openai_compatible(
    ProviderSpec(
        id="watsonx",
        name="IBM watsonx",
        base_url="https://ca-tor.ml.cloud.ibm.com/ml/gateway/v1",
        environment=("WATSONX_API_KEY",),
        environment_data={"WATSONX_BASE_URL": "baseUrl"},
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [WATSONX]
