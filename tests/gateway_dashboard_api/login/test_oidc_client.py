"""The gateway's calls to an OpenID provider: where to, how long, and what they cost."""

import anyio
import msgspec
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest, Script
from login_gateway import LoginGateway

from gateway_dashboard_api.login import oidc_client

pytestmark = pytest.mark.anyio
START = "/api/auth/oidc/start"
CALLBACK = "/api/auth/oidc/callback"
TEST = "/api/auth/oidc/test"
CLIENT = {"oidcClientId": "gateway", "oidcClientSecret": "canary"}
UNREACHABLE = "/login?error=oidc_unreachable"


async def served_by(server: LoginGateway, script: Script) -> None:
    """A provider that says what a script has it say."""
    vendor = FakeVendor(script)
    await vendor.open()
    server.stack.push_async_callback(vendor.aclose)
    await server.store(authMode="oidc", **CLIENT, oidcIssuerUrl=vendor.url)


async def test_asking_for_the_way_stores_nothing(server: LoginGateway) -> None:
    def describe(received: ReceivedRequest) -> MockResponse:
        here = f"http://{received.headers['host']}"
        places = {"authorization_endpoint": here, "token_endpoint": here, "jwks_uri": here}
        return MockResponse((msgspec.json.encode({"issuer": here, **places}),))

    await served_by(server, describe)
    browser = await server.browser()
    for _ in range(3):
        answer = await browser.get(START)
        assert "code_challenge=" in answer.headers["location"]

    assert await server.core.stores.database.fetch("SELECT * FROM tickets") == []


async def test_it_is_shut_where_the_tunnel_is_closed_to_the_dashboard(
    server: LoginGateway,
) -> None:
    await server.store(authMode="oidc", **CLIENT, oidcIssuerUrl="https://id.example")
    await server.store(tunnelUrl="https://mine.tunnel.example", tunnelDashboardAccess=False)
    tunnel = await server.browser(base="https://mine.tunnel.example")

    for path in (START, CALLBACK):
        assert (await tunnel.call("GET", path, status=403))["code"] == "tunnel_closed"


@pytest.mark.parametrize(
    ("issuer", "status"),
    [
        ("http://169.254.169.254", 400),
        ("file:///etc/passwd", 400),
        ("http://user:word@127.0.0.1", 400),
        ("not a url", 400),
        ("http://127.0.0.1:9", 502),
    ],
)
async def test_an_issuer_the_gateway_never_calls(
    server: LoginGateway, issuer: str, status: int
) -> None:
    operator = await server.command_line()

    await operator.call(
        "POST", TEST, {"issuerUrl": issuer, "clientId": CLIENT["oidcClientId"]}, status=status
    )


@pytest.mark.parametrize("way", ["endless", "silent"])
async def test_a_provider_that_never_ends_is_not_waited_for(
    server: LoginGateway, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(oidc_client, "LIMIT", 0.2 if way == "silent" else 60.0)
    piece = b" " * 64 * 1024
    answers = {
        "endless": MockResponse.stream(*[piece] * 200, hang=True),
        "silent": MockResponse.stream(piece, hang=True),
    }
    vendor = FakeVendor(lambda _: answers[way])
    await vendor.open()
    server.stack.push_async_callback(vendor.aclose)
    await server.store(
        authMode="oidc",
        oidcIssuerUrl=vendor.url,
        oidcClientId="gateway",
        oidcClientSecret="canary",
    )

    with anyio.fail_after(20):
        assert (await (await server.browser()).get(START)).headers["location"] == UNREACHABLE
