"""A gateway whose accounts are at vendors' sockets on this machine."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from own_stores import own_stores
from realtime_client import PATIENCE, place
from served_gateway import Served
from vendor_sockets import Dialogue, VendorSockets, vendor_sockets
from websockets.sync.client import ClientConnection, connect

from gateway_administration.stores.keys import KeyChange
from gateway_core.storage.stores.connection import NewConnection

SIGNING = {"JWT_SECRET": "a text that is long enough to sign with"}
PATHS = {"openai": "/v1", "xai": "/v1", "minimax": "", "gemini": "/v1beta"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with place("uvloop", tmp_path_factory.mktemp("data"), variables=SIGNING) as served:
        yield served


@pytest.fixture
def new_key(here: Served, vendor: Any) -> Iterator[Callable[..., tuple[str, str]]]:
    """Makes a key of a gateway, and gives its id and text. It is gone before the accounts are."""
    made = []

    def new_key(here: Served, connections: tuple[str, ...] = (), **policy: Any) -> tuple[str, str]:
        async def make() -> tuple[str, str]:
            core = here.gateway.core
            mint = core.identity.keys.mint
            text = mint.new()
            change = KeyChange(name=text[-6:], policy=policy, provider_connection_ids=connections)
            digest = mint.digest(text).hex()
            row = await own_stores(core).keys.create(text, digest, mint.machine_id, change)
            made.append(row.id)
            await core.refresh()
            return row.id, text

        return here.do(make())

    yield new_key

    for key in made:
        here.do(own_stores(here.gateway.core).keys.delete(key))


def add_account(here: Served, provider: str, key: str, name: str, data: Any) -> str:
    async def work() -> str:
        core = here.gateway.core
        stored = {"apiKey": key, "providerSpecificData": data}
        new = NewConnection(provider=provider, name=name, data=stored)
        connection = await core.stores.connections.create(new)
        await core.refresh()
        return connection.id

    return here.do(work())


@pytest.fixture
def account(here: Served) -> Iterator[Callable[..., str]]:
    """Adds an account of a provider at a port of this machine, until the test is over."""
    made = []

    def account(provider: str, port: int, **data: Any) -> str:
        host = data.pop("host", "127.0.0.1")
        data.setdefault("baseUrl", f"http://{host}:{port}{PATHS[provider]}")
        made.append(add_account(here, provider, "vendor-key", f"{provider} {port}", data))
        return made[-1]

    yield account

    async def forget() -> None:
        core = here.gateway.core
        for each in made:
            await core.stores.connections.delete(each)
        await core.refresh()

    here.do(forget())


@pytest.fixture
def vendor(account: Callable[..., str]) -> Iterator[Callable[[str, Dialogue], VendorSockets]]:
    """Serves a dialogue as the only account of a provider."""
    with ExitStack() as stack:

        def begin(provider: str, dialogue: Dialogue, **data: Any) -> VendorSockets:
            sockets = stack.enter_context(vendor_sockets(dialogue))
            sockets.account = account(provider, sockets.port, **data)  # type: ignore[attr-defined]
            return sockets

        yield begin


@pytest.fixture
def dial(here: Served) -> Iterator[Callable[..., ClientConnection]]:
    """Opens sockets at the gateway, and closes them at the end."""
    with ExitStack() as stack:

        def dial(path: str, **more: Any) -> ClientConnection:
            address = f"{here.url.replace('http', 'ws', 1)}{path}"
            return stack.enter_context(
                connect(address, open_timeout=PATIENCE, proxy=None, max_size=None, **more)
            )

        yield dial


@pytest.fixture
def hear() -> Callable[[ClientConnection], dict[str, Any]]:
    """The next event."""

    def hear(socket: ClientConnection) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(socket.recv(timeout=PATIENCE))
        return event

    return hear
