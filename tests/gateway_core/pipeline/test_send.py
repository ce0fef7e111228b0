"""Which way a request leaves, through proxy programs that are really there."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trustme
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from real_proxy import VENDOR, real_proxy
from snapshots import provider

from gateway_core import Credential
from gateway_core.contracts.errors import HostRefused, TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.send import send
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.egress_policy import EgressPolicy
from gateway_core.upstream.proxies import Proxy
from gateway_core.upstream.transport import Network, TransportLimits, read_all

pytestmark = pytest.mark.anyio
USER = "me:pass word"
CLOSED = "http://127.0.0.1:1"
"""A proxy that is not there."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def greeting(received: ReceivedRequest) -> MockResponse:
    return MockResponse((b"hello",))


class Way:
    """A vendor, and a network that counts how often its name is looked up."""

    def __init__(self, vendor: FakeVendor, scheme: str, network: Network) -> None:
        self.vendor = vendor
        self.scheme = scheme
        self.network = network
        self.looked_up: list[str] = []
        self.base: str | None = None
        """What the provider declares; ``None`` for where it is."""

    async def resolve(self, host: str) -> list[str]:
        self.looked_up.append(host)
        return ["127.0.0.1"]

    async def send(self, proxy: Proxy | None) -> bytes:
        core = cast(
            Collaborators, SimpleNamespace(network=self.network, egress_policy=EgressPolicy())
        )
        account = Account(
            id="a",
            provider="acme",
            name="a",
            credential=Credential(connection_id="a"),
            proxy=proxy,
        )
        base = f"{self.scheme}://{VENDOR}:{self.vendor.port}/v1"
        request = UpstreamRequest(url=f"{base}/x", headers={}, body=b"{}")
        spec = provider("acme", base_url=self.base or base)
        response = await send(core, spec, account, request)
        try:
            return await read_all(response, 100)
        finally:
            await response.aclose()


class SecureVendor(FakeVendor):
    """The same, with a certificate."""

    context: ssl.SSLContext

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]


@pytest.fixture(params=["http", "https"])
async def way(request: pytest.FixtureRequest) -> AsyncIterator[Way]:
    vendor: FakeVendor = FakeVendor(greeting)
    trusting = ssl.create_default_context
    if request.param == "https":
        authority = trustme.CA()
        vendor = secure = SecureVendor(greeting)
        secure.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(VENDOR).configure_cert(secure.context)

        def trusting(*args: Any, **more: Any) -> ssl.SSLContext:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            authority.configure_trust(context)
            return context

    await vendor.open()
    way = Way(vendor, request.param, cast(Network, None))
    way.network = Network(TransportLimits(connect=5), tls=trusting, resolve=way.resolve)
    yield way
    await way.network.aclose()
    await vendor.aclose()


@pytest.mark.parametrize("user", ["", USER], ids=["open", "with a password"])
@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_vendor_is_reached_through_the_proxy_and_in_no_other_way(
    way: Way, scheme: str, user: str
) -> None:
    async with real_proxy(scheme, user.replace(" ", "")) as proxy:
        answer = await way.send(Proxy(proxy.url))

        assert answer == b"hello"
        assert proxy.reached == [f"{VENDOR}:{way.vendor.port}"]
        assert way.looked_up == []
        assert len(way.vendor.received) == 1
        assert "proxy-authorization" not in way.vendor.received[0].headers


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_wrong_password_opens_no_way(way: Way, scheme: str) -> None:
    async with real_proxy(scheme, "me:right") as proxy:
        with pytest.raises(TransportError):
            await way.send(Proxy(proxy.url_for("me:wrong")))

        assert proxy.reached == []
        assert way.vendor.received == []
        assert way.looked_up == []


async def test_a_strict_proxy_that_is_gone_is_not_gone_around(way: Way) -> None:
    with pytest.raises(TransportError):
        await way.send(Proxy(CLOSED))

    assert way.vendor.received == []
    assert way.looked_up == []


async def test_a_proxy_that_is_not_strict_is_gone_around_when_it_is_gone(way: Way) -> None:
    answer = await way.send(Proxy(CLOSED, strict=False))

    assert answer == b"hello"
    assert way.looked_up == [VENDOR]


async def test_a_proxy_that_is_not_strict_is_used_while_it_is_there(way: Way) -> None:
    async with real_proxy() as proxy:
        await way.send(Proxy(proxy.url, strict=False))

        assert len(proxy.reached) == 1
        assert way.looked_up == []


async def test_a_request_that_may_have_arrived_is_not_sent_twice(way: Way) -> None:
    way.vendor.script = lambda received: MockResponse((b"",), cut=True)
    async with real_proxy() as proxy:
        with pytest.raises(TransportError):
            await way.send(Proxy(proxy.url, strict=False))

        assert len(way.vendor.received) == 1
        assert way.looked_up == []


@pytest.mark.parametrize("exempt", [VENDOR, ".test", "a.b, *"])
async def test_an_exempt_host_is_called_directly(way: Way, exempt: str) -> None:
    async with real_proxy() as proxy:
        await way.send(Proxy(proxy.url, exempt))

        assert proxy.reached == []
        assert way.looked_up == [VENDOR]


async def test_proxies_of_two_accounts_are_kept_apart(way: Way) -> None:
    async with real_proxy() as one, real_proxy("socks5") as other:
        for proxy in (one, other, one):
            await way.send(Proxy(proxy.url))

        assert [len(one.reached) > 0, len(other.reached)] == [True, 1]
        assert way.looked_up == []


async def test_a_refused_host_is_not_tried_again_without_the_proxy(way: Way) -> None:
    async with real_proxy() as proxy:
        way.base = "https://elsewhere.test/v1"

        with pytest.raises(HostRefused):
            await way.send(Proxy(proxy.url, strict=False))

        assert proxy.reached == []
        assert way.vendor.received == []
        assert way.looked_up == []
