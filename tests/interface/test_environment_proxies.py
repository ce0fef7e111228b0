"""The proxy that the variables name carries vendor calls, unless another is configured."""

from pathlib import Path

import pytest
from admin_gateway import AdminGateway, opened
from real_proxy import VENDOR, real_proxy

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def connect(admin: AdminGateway, **more: object) -> str:
    """Save an account whose vendor only the proxy can reach, and return the vendor's address."""
    data = {"baseUrl": f"http://{VENDOR}:{admin.vendor.port}/v1"}
    await admin.connect(providerSpecificData={**data, **more})
    return f"{VENDOR}:{admin.vendor.port}"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_vendor_calls_go_through_it(tmp_path: Path, name: str, scheme: str) -> None:
    async with real_proxy(scheme, "me:word") as proxy, opened(tmp_path, {name: proxy.url}) as admin:
        vendor = await connect(admin)

        answer = await admin.chat("acme/large")

    assert answer.status_code == 200
    assert set(proxy.reached) == {vendor}


async def test_exempt_hosts_and_this_machine_are_called_directly(tmp_path: Path) -> None:
    async with real_proxy() as proxy:
        variables = {"ALL_PROXY": proxy.url, "no_proxy": f"x.example,.{VENDOR}"}
        async with opened(tmp_path, variables) as admin:
            await admin.connect(providerSpecificData={"baseUrl": f"{admin.vendor.url}/v1"})
            here = await admin.chat("acme/large")
            (row,) = (await admin.call("GET", "/api/providers"))["connections"]
            await admin.call("DELETE", f"/api/providers/{row['id']}")
            await connect(admin)
            unknown = await admin.chat("acme/large")

    assert (here.status_code, unknown.status_code) == (200, 502)
    assert proxy.reached == []


async def test_an_accounts_own_proxy_comes_first(tmp_path: Path) -> None:
    async with (
        real_proxy() as usual,
        real_proxy() as own,
        opened(tmp_path, {"HTTP_PROXY": usual.url}) as admin,
    ):
        vendor = await connect(
            admin, connectionProxyEnabled=True, connectionProxyUrl=own.url, connectionNoProxy=""
        )
        answer = await admin.chat("acme/large")

    assert answer.status_code == 200
    assert (usual.reached, set(own.reached)) == ([], {vendor})


async def test_a_proxy_at_an_address_that_is_never_called_is_not_asked(tmp_path: Path) -> None:
    async with opened(tmp_path, {"HTTP_PROXY": "http://169.254.169.254:80"}) as admin:
        await connect(admin)

        answer = await admin.chat("acme/large")

    assert answer.status_code == 502
    assert admin.vendor.received == []
