"""A gateway with the completions vendor's plugin connected to a fake vendor."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_vendor import FakeVendor, Script
from served_gateway import Served, serve_gateway

from gateway_core import ProviderSpec
from gateway_core.storage.stores.connection import NewConnection

KEY = "sk-vendor-0123456789"
Specs = Callable[[FakeVendor], list[ProviderSpec]]
Connected = Callable[..., Any]


@contextmanager
def connect(
    folder: Path, script: Script, specs: Specs, *providers: str, key: str = KEY, **more: Any
) -> Iterator[Served]:
    """Serve, with an account for each provider whose base URL is the vendor's ``/v1``."""
    with serve_gateway(
        folder, {"vendor": script}, specs=lambda vendors: specs(vendors["vendor"]), **more
    ) as here:

        async def work() -> None:
            core = here.gateway.core
            own = {"baseUrl": f"{here.vendors['vendor'].url}/v1"}
            for provider in providers:
                data = {"apiKey": key, "providerSpecificData": own}
                new = NewConnection(provider=provider, name=provider, data=data)
                await core.stores.connections.create(new)
            await core.stores.settings.patch({"requireLogin": False})
            await core.refresh()

        here.do(work())
        yield here


@contextmanager
def opening(folder: Callable[[], Path]) -> Iterator[Connected]:
    """Serves with a script, extra providers and the names of those that have an account."""
    with ExitStack() as stack:

        def begin(
            script: Script,
            *providers: str,
            specs: Specs = lambda vendor: [],
            accounts: tuple[str, ...] = ("openai",),
            **more: Any,
        ) -> Served:
            context = connect(folder(), script, specs, *(providers or accounts), **more)
            return stack.enter_context(context)

        yield begin


@pytest.fixture
def connected(tmp_path: Path) -> Iterator[Connected]:
    """Serves one gateway of the test's own."""
    with opening(lambda: tmp_path) as begin:
        yield begin


@pytest.fixture(scope="module")
def connected_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    """Serves gateways for the tests of a module, which must store nothing in them."""
    with opening(lambda: tmp_path_factory.mktemp("data")) as begin:
        yield begin


@pytest.fixture(scope="module")
def renewed() -> Callable[[Served], Served]:
    """Has a shared gateway forget what the tests before have left in its memory."""

    def renew(here: Served) -> Served:
        async def work() -> None:
            cooldowns = here.gateway.core.cooldowns
            for account, model, _ in list(cooldowns.all_active()):
                cooldowns.clear([account], model)

        here.do(work())
        here.vendors["vendor"].received.clear()
        return here

    return renew
