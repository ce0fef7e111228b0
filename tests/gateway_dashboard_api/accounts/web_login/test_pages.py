"""How far the pages of an assisted login reach: a stranger steers them, so not to this machine."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import SECRET
from fake_vendor import FakeVendor, MockResponse
from snapshots import Clock
from web_logins import ORIGIN, browser

from gateway_core import (
    Auth,
    Model,
    ProviderSpec,
    Transport,
    UpstreamRequest,
    WebLoginAnswer,
    WebLoginRequest,
    hookimpl,
)

pytestmark = pytest.mark.anyio
VARIABLES = {"GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN, "JWT_SECRET": SECRET}


class Fetching:
    """Asks the vendor for each page it shows."""

    def __init__(self, vendor: FakeVendor) -> None:
        self.vendor = vendor

    async def handle(self, request: WebLoginRequest, transport: Transport) -> WebLoginAnswer:
        answer = await transport.send(UpstreamRequest(method="GET", url=f"{self.vendor.url}/page"))
        await answer.aclose()
        return WebLoginAnswer(body=b"a page")


@pytest.fixture
async def vendor() -> AsyncIterator[FakeVendor]:
    here = FakeVendor(lambda _: MockResponse())
    await here.open()
    yield here
    await here.aclose()


@pytest.fixture
async def admin(tmp_path: Path, vendor: FakeVendor) -> AsyncIterator[AdminGateway]:
    spec = ProviderSpec(
        id="pages",
        name="Pages",
        alias="pg",
        base_url=f"{vendor.url}/v1",
        auth=Auth(type="cookie"),
        models=(Model("m"),),
        web_login=Fetching(vendor),
    )
    plugin = SimpleNamespace(register_providers=hookimpl(lambda: [spec]))
    async with opened(tmp_path, VARIABLES, Clock(), {"pages": plugin}) as here:
        yield here


async def test_a_page_reaches_no_address_that_is_not_public(
    admin: AdminGateway, vendor: FakeVendor
) -> None:
    path = "/api/providers/web-login/start"
    login = await admin.call("POST", path, {"provider": "pages"})
    async with browser(admin) as popup:
        await popup.get(login["url"])

        answer = await popup.get("/__web_login/pages/")

    assert answer.status_code >= 400
    assert vendor.received == []
