"""Clarifai: models of its community and of vendors; the key rides as ``Key``.

API reference: https://docs.clarifai.com/compute/inference/open-ai
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

CLARIFAI = openai_compatible(
    ProviderSpec(
        id="clarifai",
        name="Clarifai",
        base_url="https://api.clarifai.com/v2/ext/openai/v1",
        auth=Auth(prefix="Key"),
        environment=("CLARIFAI_PAT",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CLARIFAI]
