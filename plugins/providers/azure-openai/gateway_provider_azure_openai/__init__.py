"""Azure OpenAI: OpenAI's models, and others, in a resource of one's own.

API reference: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/latest
Versions: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle

A model's id is the name of a deployment. An account's data may hold:

===================  ==========================================================
``azureEndpoint``    ``https://<resource>.openai.azure.com``, needed; that of
                     another Azure service which speaks the same is taken too
``apiVersion``       unsaid or ``v1``: the version without dates; ``preview``:
                     the same with what is being tried out; a date: the API of
                     that date
``deployment``       the only model that the account is used for; calls go to
                     the API of a date: ``2025-04-01-preview`` unless another is
                     given
===================  ==========================================================
"""

from gateway_core import AccountField, Auth, ProviderSpec, hookimpl
from gateway_providers.services import completions_service

from .addresses import address

# A deployment's kind is the resource's business, so every kind is offered for every name.
SERVICES = tuple(
    completions_service(name)
    for name in ("embedding", "image", "image/edit", "tts", "stt", "stt/translation")
)
AZURE_OPENAI = ProviderSpec(
    id="azure-openai",
    name="Azure OpenAI",
    keys_url="https://ai.azure.com",
    aliases=("azure", "azure-ai"),
    base_url="https://{resource}.openai.azure.com/openai/v1",
    responses_url="https://{resource}.openai.azure.com/openai/v1/responses",
    url_builder=address,
    auth=Auth(header="api-key", scheme="raw"),
    account_fields=(
        AccountField(
            name="azureEndpoint",
            title="Endpoint",
            about="Of the resource, as its page of keys shows it.",
            type="url",
            needed=True,
            examples=("https://my-resource.openai.azure.com",),
        ),
        AccountField(
            name="apiVersion",
            title="API version",
            about="v1 is the one without dates; a date is the API of that date.",
            examples=("v1", "preview", "2025-04-01-preview"),
        ),
        AccountField(
            name="deployment",
            title="Deployment",
            about="The only model that the account is used for; left out, every deployment is.",
        ),
    ),
    environment=("AZURE_OPENAI_API_KEY",),
    environment_data={
        "AZURE_OPENAI_ENDPOINT": "azureEndpoint",
        "OPENAI_API_VERSION": "apiVersion",
        "AZURE_OPENAI_DEPLOYMENT": "deployment",
    },
    # A whole answer begins when it is complete, thinking and all.
    timeout_ms=600_000,
    passthrough_models=True,
    services=SERVICES,
    options={"prompt_cache_key": True},
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [AZURE_OPENAI]
