"""StepFun: its own models.

API reference: https://platform.stepfun.com/docs/api-reference/chat/chat-completion-create
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

STEPFUN = openai_compatible(
    ProviderSpec(
        id="stepfun",
        name="StepFun",
        base_url="https://api.stepfun.com/v1",
        environment=("STEPFUN_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [STEPFUN]
