"""Maritaca: the Sabiá models. The key rides bare in a header named ``key``.

API reference: https://docs.maritaca.ai
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

MARITALK = openai_compatible(
    ProviderSpec(
        id="maritalk",
        name="MariTalk",
        base_url="https://chat.maritaca.ai/api",
        auth=Auth(header="key", scheme="raw"),
        environment=("MARITALK_API_KEY",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [MARITALK]
