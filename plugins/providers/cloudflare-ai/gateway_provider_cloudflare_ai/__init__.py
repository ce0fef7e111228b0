"""Cloudflare Workers AI: open-weight models on Cloudflare's network.

API reference: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/
Running a model: https://developers.cloudflare.com/api/resources/ai/methods/run/

An account holds its ``accountId`` in its data. Its ``baseUrl`` is where ``/chat/completions``
begins, as ``…/ai/v1``; models of other kinds are run beside it, at ``…/ai/run``.
``CLOUDFLARE_API_TOKEN`` is not read: it is set on many machines for other products of this vendor.
"""

from collections.abc import Iterator

from gateway_core import (
    AccountField,
    Auth,
    Credential,
    Kind,
    Model,
    ProviderSpec,
    Service,
    Target,
    UpstreamError,
    hookimpl,
)

from .running import EMBEDDING, IMAGE, RUN

API = "https://api.cloudflare.com/client/v4"


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call. Raises UpstreamError when the account does not say whose it is."""
    own = credential.data.get("baseUrl")
    if isinstance(own, str) and own:
        base = own.rstrip("/")
    else:
        account = credential.data.get("accountId")
        if not isinstance(account, str) or not account.isalnum():
            raise UpstreamError("The account names no accountId; save it in its data")
        base = f"{API}/accounts/{account}/ai/v1"
    return (base.removesuffix("/v1") if path.startswith(RUN) else base) + path


def models(kind: Kind, *ids: str) -> Iterator[Model]:
    for id in ids:
        yield Model(id, kind=kind)


CLOUDFLARE = ProviderSpec(
    id="cloudflare-ai",
    name="Cloudflare Workers AI",
    keys_url="https://dash.cloudflare.com/profile/api-tokens",
    aliases=("cf",),
    base_url=API,
    url_builder=address,
    auth=Auth(scheme="bearer"),
    account_fields=(
        AccountField(
            name="accountId",
            title="Account ID",
            about="In the address of the vendor's dashboard, and beside its list of domains.",
            needed=True,
        ),
    ),
    environment=("CF_AI_API_TOKEN",),
    environment_data={"CF_ACCOUNT_ID": "accountId"},
    passthrough_models=True,
    models=(
        *models(Kind.LLM, "@cf/moonshotai/kimi-k2.6", "@cf/zai-org/glm-4.7-flash"),
        *models(Kind.EMBEDDING, "@cf/baai/bge-m3", "@cf/baai/bge-base-en-v1.5"),
        *models(Kind.EMBEDDING, "@cf/baai/bge-large-en-v1.5", "@cf/baai/bge-small-en-v1.5"),
        *models(Kind.IMAGE, "@cf/black-forest-labs/flux-1-schnell"),
        *models(Kind.IMAGE, "@cf/black-forest-labs/flux-2-dev"),
        *models(Kind.IMAGE, "@cf/stabilityai/stable-diffusion-xl-base-1.0"),
        *models(Kind.IMAGE, "@cf/bytedance/stable-diffusion-xl-lightning"),
    ),
    services=(Service(Kind.EMBEDDING, EMBEDDING), Service(Kind.IMAGE, IMAGE)),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [CLOUDFLARE]
