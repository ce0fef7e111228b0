"""Lambda: open-weight models.

API reference: https://docs.lambda.ai/public-cloud/lambda-inference-api
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

LAMBDA_AI = openai_compatible(
    ProviderSpec(
        id="lambda-ai",
        name="Lambda",
        base_url="https://api.lambda.ai/v1",
        environment=("LAMBDA_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LAMBDA_AI]
