"""Vendors whose accounts are logins at the OAuth server on loopback, and ways to sign in there."""

from typing import Any

from admin_gateway import AdminGateway, Vendor
from fake_vendor import ReceivedRequest
from oauth_server import CLIENT, PUBLIC, SECRET, OAuthServer

from gateway_core import Auth, Model, OAuth, ProviderSpec

PAGE = "http://127.0.0.1/dashboard/callback"
"""The dashboard's page, at the address that tests call the gateway by."""


class SignedInVendor(Vendor):
    """Serves calls with access tokens of the server, or with plain keys that were exchanged."""

    def __init__(self, server: OAuthServer) -> None:
        super().__init__()
        self.server = server

    def _knows(self, received: ReceivedRequest) -> bool:
        word, _, token = received.headers.get("authorization", "").partition(" ")
        return word == "Bearer" and self.server.accepts(token)


def login(server: OAuthServer, **more: Any) -> OAuth:
    fields: dict[str, Any] = {
        "flow": "pkce",
        "authorize_url": f"{server.url}/authorize",
        "token_url": f"{server.url}/token",
        "device_url": f"{server.url}/device",
        "revoke_url": f"{server.url}/revoke",
        "client_id": CLIENT,
        "client_secret": SECRET,
        "scopes": ("inference",),
    }
    return OAuth(**{**fields, **more})


def specs(vendor: Vendor, server: OAuthServer) -> list[ProviderSpec]:
    """One with a confidential application, one with a public one, one that asks otherwise."""

    def one(id: str, oauth: OAuth, **more: Any) -> ProviderSpec:
        fields: dict[str, Any] = {
            "id": id,
            "name": id.title(),
            "base_url": f"{vendor.url}/v1",
            "models_url": f"{vendor.url}/v1/models",
            "auth": Auth(type="apikey"),
            "models": (Model("large"),),
        }
        return ProviderSpec(**{**fields, **more}, oauth=oauth)

    public = login(server, client_id=PUBLIC, client_secret=None)
    odd = login(server, client_auth="basic", auth=Auth(header="authorization", scheme="bearer"))
    typed = login(server, flow="device")
    key = OAuth(
        flow="key",
        authorize_url=f"{server.url}/auth",
        token_url=f"{server.url}/keys",
        client_id="",
    )
    return [
        one("acme-id", login(server)),
        one("public-id", public),
        one("odd-id", odd, auth=Auth(type="apikey", header="api-key", scheme="raw")),
        one("typed-id", typed),
        one("key-id", key),
    ]


async def begun(admin: AdminGateway, provider: str = "acme-id") -> dict[str, Any]:
    """A login whose browser is about to be sent away."""
    path = f"/api/oauth/{provider}/authorize?redirect_uri={PAGE}"
    answer: dict[str, Any] = await admin.call("GET", path)
    return answer


async def signed_in(
    admin: AdminGateway, server: OAuthServer, provider: str = "acme-id", **meta: Any
) -> dict[str, Any]:
    """The row of an account after a whole login."""
    started = await begun(admin, provider)
    back = server.sign_in(started["authUrl"])
    body = {"code": back["code"], "state": back["state"], "meta": meta}
    done = await admin.call("POST", f"/api/oauth/{provider}/exchange", body)
    assert done["success"]
    row: dict[str, Any] = done["connection"]
    return row
