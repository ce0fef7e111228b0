"""Rowan: messages in a region and a project of the account's own, with a digest of each body.

API reference: https://docs.rowan.example/api/messages

Each project has an address of its own, ``https://<region>.rowan.example/projects/<project>``.
Every request carries ``x-rowan-digest``, the SHA-256 of its body in hexadecimal digits, and
``x-rowan-tenant``, which the operator may have been given beside the key. The same models are
offered in the chat format.
"""

import hashlib
from typing import ClassVar

from msgspec.structs import replace

from gateway_core import (
    AccountField,
    Auth,
    BadRequest,
    Credential,
    Model,
    Price,
    ProviderSpec,
    Target,
    Transport,
    UpstreamRequest,
    UpstreamResponse,
    hookimpl,
)

GATEWAY_PROTOCOL = 1
REGIONS = ("north", "south")


def address(target: Target, credential: Credential, path: str) -> str:
    """The account's own address. Raises BadRequest for an account without project or region."""
    project = credential.data.get("project")
    if not project:
        raise BadRequest("The account needs a project, as the vendor's console shows it")
    region = credential.data.get("region") or REGIONS[0]
    if region not in REGIONS:
        raise BadRequest(f"The account's region has to be one of {', '.join(REGIONS)}")
    dialect = "messages" if path.startswith("/messages") else "chat"
    return f"https://{region}.rowan.example/projects/{project}/{dialect}/v1{path}"


class Digests:
    """Adds what the vendor verifies of each request."""

    name = "rowan-digests"
    tenant_header: ClassVar = "x-rowan-tenant"

    async def send(
        self, request: UpstreamRequest, credential: Credential, transport: Transport
    ) -> UpstreamResponse:
        headers = dict(request.headers)
        headers["x-rowan-digest"] = hashlib.sha256(request.body).hexdigest()
        tenant = credential.data.get("tenant")
        if tenant:
            headers[self.tenant_header] = str(tenant)
        signed = replace(request, headers=headers)
        return await transport.send(signed)


ROWAN = ProviderSpec(
    id="rowan",
    name="Rowan",
    alias="rw",
    format="claude",
    base_url="https://north.rowan.example/projects/shared/messages/v1",
    other_formats={"openai": "https://north.rowan.example/projects/shared/chat/v1"},
    url_builder=address,
    hosts=("north.rowan.example", "south.rowan.example"),
    auth=Auth(header="x-rowan-key", scheme="raw"),
    keys_url="https://console.rowan.example/keys",
    account_fields=(
        AccountField(name="project", title="Project", needed=True),
        AccountField(name="region", title="Region", default="north", examples=REGIONS),
        AccountField(name="tenant", title="Tenant"),
    ),
    environment=("ROWAN_API_KEY",),
    environment_data={"ROWAN_PROJECT": "project", "ROWAN_REGION": "region"},
    beginnings=("rowan-",),
    headers={"x-rowan-version": "2025-04-01"},
    options={"thinking": "budget", "structured_outputs": False},
    executor=Digests(),
    timeout_ms=90_000,
    drop=("metadata",),
    models=(
        Model(
            "rowan-berry",
            context=200_000,
            max_output=16_384,
            tools=True,
            vision=True,
            price=Price(input=2.5, output=10.0, cached=0.25),
        ),
        Model(
            "rowan-leaf",
            context=64_000,
            max_output=8_192,
            tools=True,
            unsupported=("top_k",),
            price=Price(input=0.3, output=1.2),
        ),
    ),
)

CONFORMANCE = {
    "accounts": {
        "rowan": {
            "secret": "rwk-0123456789abcdef",
            "data": {"project": "p-4411", "region": "south", "tenant": "t-77"},
        }
    },
}


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ROWAN]
