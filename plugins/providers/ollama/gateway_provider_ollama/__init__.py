"""Ollama: models on the operator's own machine, or hosted on ollama.com.

API reference: https://docs.ollama.com/api
Cloud: https://docs.ollama.com/cloud

A call goes to the account's ``baseUrl`` (``OLLAMA_HOST``, in any spelling the
vendor's own programs understand); an account with a key and no address means
the hosted service; everything else is the server on this machine. Clients that
speak chat completions or messages are passed through to the endpoints that the
server has for them. Which models there are is the server's business, so none
is listed here. Web search and web fetch are of the hosted service alone, and
need its key.
"""

from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_providers.services import fetch_model, search_model

from .addresses import LOCAL, address
from .services import SERVICES

OLLAMA = ProviderSpec(
    id="ollama",
    name="Ollama",
    keys_url="https://ollama.com/settings/keys",
    aliases=("ollama-local", "ollama-cloud", "ollama-search"),
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
    models=(search_model(0), fetch_model(0)),
    services=SERVICES,
    passthrough_models=True,
    # The hosted service is paid for by the month, not by the token.
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [OLLAMA]
