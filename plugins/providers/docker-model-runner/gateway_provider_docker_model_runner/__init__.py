"""Docker Model Runner: models on the operator's own computer.

API reference: https://docs.docker.com/ai/model-runner/api-reference
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DOCKER_MODEL_RUNNER = openai_compatible(
    ProviderSpec(
        id="docker-model-runner",
        name="Docker Model Runner",
        base_url="http://localhost:12434/engines/v1",
        auth=Auth(type="optional"),
        environment=("DOCKER_MODEL_RUNNER_API_KEY",),
        environment_data={"DOCKER_MODEL_RUNNER_BASE_URL": "baseUrl"},
        # A model may have to be loaded before the first word.
        timeout_ms=600_000,
        passthrough_models=True,
        free=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DOCKER_MODEL_RUNNER]
