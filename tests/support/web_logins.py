"""A vendor with login pages, and a run through an assisted login."""

from types import SimpleNamespace

import httpx2
from admin_gateway import AdminGateway

from gateway_core import (
    Auth,
    Model,
    ProviderSpec,
    Transport,
    WebLoginAnswer,
    WebLoginRequest,
    hookimpl,
)

ORIGIN = "http://login.example"
COOKIES = "session=canary-cookie"


class Demonstration:
    """Asks for a name and a password, and builds the cookie from them."""

    def __init__(self) -> None:
        self.received: list[WebLoginRequest] = []

    async def handle(self, request: WebLoginRequest, transport: Transport) -> WebLoginAnswer:
        self.received.append(request)
        if request.path == "steal":
            return WebLoginAnswer(
                headers={"Set-Cookie": "web_login=x", "Access-Control-Allow": "*"}
            )
        if request.path == "broken":
            return WebLoginAnswer(captured="a\r\nb")
        if request.method == "POST":
            request.memory["form"] = request.body
            return WebLoginAnswer(status=303, headers={"location": "done"})
        if request.path == "done":
            captured = COOKIES if b"pass" in request.memory.get("form", b"") else None
            return WebLoginAnswer(body=b"<p>Done", captured=captured)
        return WebLoginAnswer(body=b"<form method=post><input name=pass></form>")


def pages_provider(demonstration: Demonstration) -> ProviderSpec:
    """A provider that has login pages."""
    return ProviderSpec(
        id="pages",
        name="Pages",
        alias="pg",
        base_url="https://pages.example/v1",
        auth=Auth(type="cookie"),
        models=(Model("m"),),
        web_login=demonstration,
    )


def plugin(demonstration: Demonstration) -> object:
    """A plugin with that provider."""
    spec = pages_provider(demonstration)
    return SimpleNamespace(register_providers=hookimpl(lambda: [spec]))


def browser(admin: AdminGateway, host: str = "login.example") -> httpx2.AsyncClient:
    """A browser somewhere else, which does not follow redirects by itself."""
    transport = httpx2.ASGITransport(app=admin.gateway.app, client=("192.0.2.9", 1))
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{host}")
