"""Heroku's managed inference.

API reference: https://devcenter.heroku.com/articles/heroku-inference-api-v1-chat-completions
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

HEROKU = openai_compatible(
    ProviderSpec(
        id="heroku",
        name="Heroku",
        base_url="https://us.inference.heroku.com/v1",
        environment=("HEROKU_INFERENCE_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [HEROKU]
