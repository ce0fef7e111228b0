"""Vertex: Google's models in a cloud project, over the generative-content format.

API reference: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
API keys: https://cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/overview

An account holds one of three things as its key: the JSON of a service account
(or that JSON under ``serviceAccount`` in its data), an access token, or an API
key. Beside it may stand ``project`` (else the service account's own) and
``location`` (else ``global``); an API key without a project is used in express
mode, which knows neither. An account's ``baseUrl`` is where ``/models/…``
begins. ``GOOGLE_CLOUD_PROJECT`` is deliberately not read: it is set on many
machines that have no business with this vendor, and would make an account of
itself.

An account may also be a login, once an operator has registered an application:
https://developers.google.com/identity/protocols/oauth2/web-server
"""

from collections.abc import Iterator

from msgspec.structs import replace

from gateway_core import AccountField, Auth, Kind, Model, OAuth, ProviderSpec, Service, hookimpl
from gateway_providers.logins import LoginSettings
from gateway_providers.services import GENERATIVE

from .addresses import GLOBAL, address
from .embeddings import EMBEDDING
from .executor import VertexExecutor
from .tokens import SCOPE


def gemini(*ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(
            id, context=1_048_576, max_output=65_536, tools=True, reasoning=True, vision=True
        )


VERTEX = ProviderSpec(
    id="vertex",
    name="Google Vertex AI",
    keys_url="https://console.cloud.google.com/apis/credentials",
    aliases=("vx",),
    format="gemini",
    base_url="https://aiplatform.googleapis.com/v1/publishers/google",
    hosts=(
        *("*-aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com"),
        *("oauth2.googleapis.com", "accounts.google.com"),  # where service accounts sign in
    ),
    url_builder=address,
    executor=VertexExecutor(),
    auth=Auth(header="Authorization", scheme="bearer"),
    account_fields=(
        AccountField(
            name="project",
            title="Project",
            about="Left out, it is that of the service account; API keys need none.",
        ),
        AccountField(
            name="location",
            title="Location",
            default=GLOBAL,
            examples=("global", "us", "eu", "us-central1", "europe-west4"),
        ),
        AccountField(
            name="serviceAccount",
            title="Service account",
            about="The JSON of its key file, where it is not the account's key.",
            type="document",
        ),
    ),
    environment=("GOOGLE_VERTEX_API_KEY", "VERTEXAI_CREDENTIALS"),
    environment_data={
        "GOOGLE_VERTEX_PROJECT": "project",
        "GOOGLE_VERTEX_LOCATION": "location",
    },
    # A whole answer begins when it is complete, thinking and all.
    timeout_ms=600_000,
    models=(
        *gemini("gemini-3.1-pro-preview", "gemini-3.1-flash-lite-preview"),
        *gemini("gemini-3-flash-preview"),
        *gemini("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
        Model("gemini-embedding-001", kind=Kind.EMBEDDING),
        Model("text-embedding-005", kind=Kind.EMBEDDING),
        Model("text-multilingual-embedding-002", kind=Kind.EMBEDDING),
        Model("gemini-2.5-flash-image", kind=Kind.IMAGE),
    ),
    services=(
        Service(Kind.EMBEDDING, EMBEDDING),
        GENERATIVE["image"],
        GENERATIVE["image/edit"],
    ),
    options={"server_tool_invocations": False},
)


class Settings(LoginSettings, frozen=True, kw_only=True, rename="camel"):
    """The application that you have registered at Google, for signing in there."""


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_providers(settings: Settings) -> list[ProviderSpec]:
    if not settings.client_id:
        return [VERTEX]
    # Its flow with a code to type in gives no access to the cloud:
    # https://developers.google.com/identity/protocols/oauth2/limited-input-device
    login = OAuth(
        flow="pkce",
        authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
        token_url="https://oauth2.googleapis.com/token",
        revoke_url="https://oauth2.googleapis.com/revoke",
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        scopes=("openid", "email", SCOPE),
        # Without both, only the first login of a person gives a refresh token.
        parameters={"access_type": "offline", "prompt": "consent"},
    )
    return [replace(VERTEX, auth=replace(VERTEX.auth, type="apikey"), oauth=login)]
