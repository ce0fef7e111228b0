"""Ollama: models on the operator's own machine, or hosted on ollama.com.

API reference: https://docs.ollama.com/api
Cloud: https://docs.ollama.com/cloud

A call goes to the account's ``baseUrl`` (``OLLAMA_HOST``, in any spelling the
vendor's own programs understand); an account with a key and no address means
the hosted service; everything else is the server on this machine. Clients that
speak chat completions or messages are passed through to the endpoints that the
server has for them. Which models there are is the server's business, so none
is listed here.
"""

from gateway_core import Auth, ProviderSpec, hookimpl

from .addresses import LOCAL, address

OLLAMA = ProviderSpec(
    id="ollama",
    name="Ollama",
    aliases=("ollama-local", "ollama-cloud"),
    format="ollama",
    base_url=LOCAL,
    other_formats={"openai": f"{LOCAL}/v1", "claude": f"{LOCAL}/v1"},
    hosts=("ollama.com",),
    url_builder=address,
    models_url=f"{LOCAL}/api/tags",
    auth=Auth(type="optional", scheme="bearer"),
    environment=("OLLAMA_API_KEY",),
    environment_data={"OLLAMA_HOST": "baseUrl"},
    # A model may have to be loaded before the first word.
    timeout_ms=600_000,
    passthrough_models=True,
    # The hosted service is paid for by the month, not by the token.
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OLLAMA]
