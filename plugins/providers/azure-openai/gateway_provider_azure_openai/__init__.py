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

An account may be a login with Microsoft Entra, once an operator has registered an application:
https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow
"""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from gateway_core import AccountField, Auth, OAuth, ProviderSpec, hookimpl
from gateway_providers.logins import LoginSettings
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


class Settings(LoginSettings, frozen=True, kw_only=True, rename="camel"):
    """The application that you have registered at Microsoft Entra, for signing in there."""

    tenant: Annotated[
        str,
        Meta(
            description="Whose accounts may sign in: the id or domain of a directory, or "
            "organizations for any.",
            pattern="^[A-Za-z0-9.-]{1,255}$",
        ),
    ] = "organizations"


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_providers(settings: Settings) -> list[ProviderSpec]:
    if not settings.client_id:
        return [AZURE_OPENAI]
    home = f"https://login.microsoftonline.com/{settings.tenant}/oauth2/v2.0"
    # Entra has no address where tokens are revoked; they end with the account's sessions.
    login = OAuth(
        flow="pkce",
        authorize_url=f"{home}/authorize",
        token_url=f"{home}/token",
        device_url=f"{home}/devicecode",
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        scopes=(
            "https://cognitiveservices.azure.com/.default",
            *("openid", "email", "offline_access"),
        ),
        auth=Auth(header="authorization", scheme="bearer"),
    )
    return [replace(AZURE_OPENAI, auth=replace(AZURE_OPENAI.auth, type="apikey"), oauth=login)]
