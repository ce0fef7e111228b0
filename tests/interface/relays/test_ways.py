"""Relayed sessions over every server, through proxies, and at a stop."""

import json
import threading
from contextlib import ExitStack

import pytest
from certificates import issue
from own_stores import own_stores
from real_proxy import VENDOR, RealProxy
from realtime_client import PATIENCE, SERVERS, place
from vendor_sockets import USAGE, read, realtime, tell
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from gateway_administration.stores.proxy_pools import NewProxyPool
from gateway_core.storage.stores.connection import NewConnection

PATH = "/v1/realtime?model=openai/gpt-realtime"
CREATE = '{"type":"response.create"}'


def talk(socket):
    """One response; the types of its events."""
    assert json.loads(socket.recv(PATIENCE))["type"] == "session.created"
    socket.send(CREATE)
    return [json.loads(socket.recv(PATIENCE))["type"] for _ in range(3)]


@pytest.mark.parametrize("server", SERVERS)
def test_every_server_relays(tmp_path, server, open_vendor):
    with place(server, tmp_path) as here, ExitStack() as stack:
        sockets = open_vendor(here, stack, realtime)
        socket = stack.enter_context(
            connect(f"{here.url.replace('http', 'ws', 1)}{PATH}", proxy=None)
        )

        assert talk(socket)[-1] == "response.done"
        (row,) = here.rows()
        assert (row.connection_id, row.output_tokens) == (sockets.account, 148)

        with pytest.raises(InvalidStatus):
            connect(
                f"{here.url.replace('http', 'ws', 1)}/v1/live/sessions?model=openai/gpt-realtime",
                proxy=None,
                legacy=True,
            )


@pytest.mark.parametrize("scheme", ["socks5", "http", "https"])
def test_an_accounts_proxy_is_used(here, vendor, dial, scheme, tmp_path, monkeypatch):
    issued = issue(tmp_path)
    # Where the system keeps what it trusts, as OpenSSL has it.
    monkeypatch.setenv("SSL_CERT_FILE", str(issued.authority))
    proxy = RealProxy(scheme, "me:secret", issued if scheme == "https" else None)
    here.do(proxy.open())
    try:
        sockets = vendor(
            "openai",
            realtime,
            connectionProxyEnabled=True,
            connectionProxyUrl=proxy.url,
            host=VENDOR,
        )
        socket = dial(PATH)
        assert talk(socket)[-1] == "response.done"
        socket.close()
        assert sockets.gone.acquire(timeout=PATIENCE)
        assert proxy.reached == [f"{VENDOR}:{sockets.port}"]
    finally:
        here.do(proxy.aclose())


def test_a_pool_of_relays_opens_no_sockets(here, vendor, dial):
    async def add_pool():
        new = NewProxyPool(name="relays", proxy_url="https://relay.test", type="vercel")
        pool = await own_stores(here.gateway.core).proxy_pools.create(new)
        return pool.id

    sockets = vendor("openai", realtime, proxyPoolId=here.do(add_pool()))

    with pytest.raises(InvalidStatus) as caught:
        dial(PATH)
    assert caught.value.response.status_code == 503
    assert not sockets.requests


@pytest.fixture
def open_vendor():
    """Serves a dialogue to an account of a gateway of the test's own."""
    from vendor_sockets import vendor_sockets

    def begin(here, stack, dialogue):
        sockets = stack.enter_context(vendor_sockets(dialogue))

        async def add():
            data = {
                "apiKey": "k",
                "providerSpecificData": {"baseUrl": f"{sockets.base_url}/v1"},
            }
            new = NewConnection(provider="openai", name="k", data=data)
            connection = await here.gateway.core.stores.connections.create(new)
            await here.gateway.core.refresh()
            return connection.id

        sockets.account = here.do(add())
        return sockets

    return begin


def test_a_stop_lets_a_response_end_and_closes_what_is_idle(tmp_path, open_vendor):
    go_on = threading.Event()

    def slow(connection):
        tell(connection, "session.created")
        read(connection)
        tell(connection, "response.created", response={"id": "resp_1"})
        go_on.wait(PATIENCE)
        tell(connection, "response.done", response={"id": "resp_1", "usage": USAGE})
        connection.recv()

    with ExitStack() as stack:
        here = stack.enter_context(place("uvloop", tmp_path))
        sockets = open_vendor(here, stack, slow)
        url = f"{here.url.replace('http', 'ws', 1)}{PATH}"
        idle = stack.enter_context(connect(url, proxy=None))
        busy = stack.enter_context(connect(url, proxy=None))
        idle.recv(PATIENCE)
        busy.recv(PATIENCE)
        busy.send(CREATE)
        assert json.loads(busy.recv(PATIENCE))["type"] == "response.created"

        here.loop.call_soon_threadsafe(here.stop.set)
        with pytest.raises(ConnectionClosed):
            idle.recv(PATIENCE)
        go_on.set()
        last = json.loads(busy.recv(PATIENCE))
        with pytest.raises(ConnectionClosed):
            busy.recv(PATIENCE)

        assert last["type"] == "response.done"
        assert (idle.close_code, busy.close_code) == (1001, 1001)
        for _ in range(2):
            assert sockets.gone.acquire(timeout=PATIENCE)
