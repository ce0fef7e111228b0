"""Laya: a decision engine on the operator's own machine.

API reference: https://api.typesafe.ai is the hosted engine with the same endpoint.

The account's ``baseUrl`` names another server, of which only the origin counts.
"""

from urllib.parse import urlsplit

from gateway_core import Auth, Credential, Kind, Model, ProviderSpec, Service, Target, hookimpl
from gateway_providers.services import PassThroughService

LOCAL = "http://127.0.0.1:8000"


def url(target: Target, credential: Credential, path: str) -> str:
    own = credential.data.get("baseUrl")
    parts = urlsplit(own if isinstance(own, str) and own else LOCAL)
    return f"{parts.scheme}://{parts.netloc}{path}"


LAYA = ProviderSpec(
    id="laya",
    name="Laya",
    base_url=LOCAL,
    url_builder=url,
    auth=Auth(type="optional", scheme="bearer"),
    models=tuple(
        Model(name, kind=Kind.DECISION) for name in ("english", "multilingual", "typed-decisions")
    ),
    services=(Service(Kind.DECISION, PassThroughService("/v1/systemone")),),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [LAYA]
