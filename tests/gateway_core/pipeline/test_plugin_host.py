"""What a plugin's extensions are given of the gateway."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from fake_vendor import FakeVendor, MockResponse
from msgspec import Struct
from real_proxy import VENDOR, real_proxy
from snapshots import provider

from gateway_core import UpstreamRequest, hookimpl
from gateway_core.contracts.errors import Forbidden, HostRefused
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.plugin_host import Host, Hosts

pytestmark = pytest.mark.anyio
STRANGER = "stranger"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wishes(Struct, frozen=True, kw_only=True):
    collector: str = ""
    word: str = "hello"


@pytest.fixture
async def vendor() -> AsyncIterator[FakeVendor]:
    vendor = FakeVendor(lambda received: MockResponse((b"hello",)))
    await vendor.open()
    yield vendor
    await vendor.aclose()


@pytest.fixture
async def admin(tmp_path: Path, vendor: FakeVendor) -> AsyncIterator[AdminGateway]:
    hosts = (f"http://{VENDOR}:{vendor.port}",)
    spec = provider("strange", base_url=f"{vendor.url}/v1", hosts=hosts)
    stranger = SimpleNamespace(
        register_settings=hookimpl(lambda: Wishes),
        register_providers=hookimpl(lambda: [spec]),
    )
    async with opened(tmp_path, {}, more={STRANGER: stranger}) as admin:
        yield admin


def host_of(admin: AdminGateway, *trusted: str) -> Host:
    return Hosts(admin.core, frozenset(trusted)).of(STRANGER)


async def sent(host: Host, url: str) -> int:
    answer = await host.transport().send(UpstreamRequest(method="GET", url=url))
    await answer.aclose()
    return answer.status


async def test_a_stranger_gets_its_own_things(admin: AdminGateway, tmp_path: Path) -> None:
    host = host_of(admin)

    assert host.name == STRANGER
    assert host.settings == Wishes()
    assert host.clock is admin.core.clock
    assert host.log.name == "gateway_plugin.stranger"
    assert host.version.count(".") == 2
    assert host.folder == tmp_path / "plugin-data" / STRANGER
    assert host.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["../escape", "a/b", "..", "."])
async def test_no_name_leads_out_of_the_folder(
    admin: AdminGateway, tmp_path: Path, name: str
) -> None:
    host = Hosts(admin.core, frozenset()).of(name)

    assert host.folder.parent == tmp_path / "plugin-data"
    assert host.folder.is_dir()


@pytest.mark.parametrize("name", ["core", *Collaborators.__struct_fields__])
async def test_a_stranger_gets_nothing_of_the_gateways(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    host: Any = host_of(admin)
    if name == "clock":
        return

    with pytest.raises(Forbidden, match="GATEWAY_TRUST_PLUGINS"):
        getattr(host, name)

    assert f"plugin stranger: it is not trusted and gets no {name}" in caplog.text


async def test_a_word_that_means_nothing_is_no_attribute(admin: AdminGateway) -> None:
    assert not hasattr(host_of(admin), "nothing")


async def test_a_trusted_plugin_gets_the_gateway(admin: AdminGateway) -> None:
    hosts = Hosts(admin.core, frozenset({STRANGER}))

    assert hosts.of(STRANGER).core is admin.core


async def test_the_way_out_leads_to_its_own_providers(
    admin: AdminGateway, vendor: FakeVendor
) -> None:
    assert await sent(host_of(admin), f"{vendor.url}/anything") == 200

    with pytest.raises(HostRefused, match="Plugin stranger may not send to"):
        await sent(host_of(admin), f"{admin.vendor.url}/v1/models")
    assert admin.vendor.received == []


async def test_the_way_out_leads_to_what_its_settings_name(admin: AdminGateway) -> None:
    host = host_of(admin)
    wish = {"collector": f"{admin.vendor.url}/v1/traces"}
    await admin.call("PATCH", f"/api/plugins/{STRANGER}/settings", wish)

    assert await sent(host, f"{admin.vendor.url}/v1/models") == 401
    with pytest.raises(HostRefused):
        await sent(host, f"{admin.other.url}/v1/models")


async def test_the_way_out_goes_through_the_general_proxy(
    admin: AdminGateway, vendor: FakeVendor
) -> None:
    async with real_proxy() as proxy:
        change = {"outboundProxyEnabled": True, "outboundProxyUrl": proxy.url}
        await admin.call("PATCH", "/api/settings", change)

        assert await sent(host_of(admin), f"http://{VENDOR}:{vendor.port}/v1") == 200
        assert proxy.reached == [f"{VENDOR}:{vendor.port}"]
