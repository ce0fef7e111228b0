"""The gateway's calls to an OpenID provider that does not behave."""

import anyio
import pytest
from fake_vendor import FakeVendor, Said
from front_door import House

from gateway_dashboard_api import oidc_client

pytestmark = pytest.mark.anyio
START = "/api/auth/oidc/start"
UNREACHABLE = "/login?error=oidc_unreachable"


@pytest.mark.parametrize("way", ["endless", "silent"])
async def test_a_provider_that_never_ends_is_not_waited_for(
    house: House, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(oidc_client, "LIMIT", 0.2 if way == "silent" else 60.0)
    piece = b" " * 64 * 1024
    answers = {
        "endless": Said.stream(*[piece] * 200, hang=True),
        "silent": Said.stream(piece, hang=True),
    }
    vendor = FakeVendor(lambda _: answers[way])
    await vendor.open()
    house.stack.push_async_callback(vendor.aclose)
    await house.store(
        authMode="oidc",
        oidcIssuerUrl=vendor.url,
        oidcClientId="gateway",
        oidcClientSecret="canary",
    )

    with anyio.fail_after(20):
        assert (await (await house.browser()).get(START)).headers["location"] == UNREACHABLE
