"""A gateway served over a socket, with fake vendors, for blocking clients."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from socket import socket
from time import time
from types import SimpleNamespace
from typing import Any, TypeVar

from fake_vendor import FakeVendor, Script
from migrated_file import lay_database

from gateway_cli.event_loop import loop_factory
from gateway_cli.listening import listen
from gateway_cli.servers import choose_server
from gateway_core import Auth, ProviderSpec, hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.contracts.server import ServerOptions

T = TypeVar("T")
Serve = Callable[[Any, socket, Callable[[], Awaitable[object]]], Coroutine[Any, Any, None]]
"""How a server serves an application: see ``gateway_core.Server``."""
MODEL = "m-1"

PATIENT = {"GATEWAY_PLUGIN_TIMEOUT_MS": "60000"}
"""On a busy machine a plugin that works must not count as broken."""


class Served:
    """A running gateway and its vendors, in a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.vendors: dict[str, FakeVendor] = {}
        self.url = ""
        self.stop = asyncio.Event()
        """Setting it in the gateway's loop stops the gateway."""
        self.gateway: Gateway

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the gateway's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def rows(self) -> list[Any]:
        """The usage rows so far, newest first."""

        async def read() -> list[Any]:
            await self.gateway.core.ledger.flush()
            page = await self.gateway.core.stores.usage.page(limit=200)
            return list(page.rows)

        return self.do(read())


def vendor_plugin(specs: list[ProviderSpec]) -> object:
    """A plugin with these providers."""

    def register_providers() -> list[ProviderSpec]:
        return specs

    return SimpleNamespace(register_providers=hookimpl(register_providers))


def keyless_provider(wire: str, vendor: FakeVendor, **more: Any) -> ProviderSpec:
    """A keyless provider ``v-<format>`` whose base URL is a fake vendor."""
    fields: dict[str, Any] = {
        "id": f"v-{wire}",
        "name": wire,
        "format": wire,
        "base_url": vendor.url,
        "auth": Auth(type="none"),
        **more,
    }
    return ProviderSpec(**fields)


@contextmanager
def serve_gateway(
    data_dir: Path,
    scripts: Mapping[str, Script],
    *,
    specs: Callable[[Mapping[str, FakeVendor]], list[ProviderSpec]] | None = None,
    server: str = "uvloop",
    variables: Mapping[str, str] = {},
    serve: Serve | None = None,
    plugins: Mapping[str, object] = {},
    clock: Callable[[], float] = time,
) -> Iterator[Served]:
    """Serve a gateway with one fake vendor for each script.

    Without ``specs`` each script's name is a wire format, served as provider ``v-<format>``.
    ``server`` is the event loop; ``serve`` serves in the place of the server plugin.
    ``plugins`` are further ones by name.
    """
    here = Served(loop_factory(server)())
    ready, stop = threading.Event(), here.stop
    trouble: list[BaseException] = []

    async def main() -> None:
        async with AsyncExitStack() as stack:
            for name, script in scripts.items():
                vendor = here.vendors[name] = FakeVendor(script)
                await vendor.open()
                stack.push_async_callback(vendor.aclose)
            found = (
                specs(here.vendors)
                if specs
                else [keyless_provider(name, vendor) for name, vendor in here.vendors.items()]
            )
            environment = from_environ({"DATA_DIR": str(data_dir), **PATIENT, **variables})
            lay_database(environment)
            listener = listen("127.0.0.1", 0)
            stack.callback(listener.close)
            here.gateway = await stack.enter_async_context(
                Gateway.open(
                    environment,
                    extra_plugins={"test-vendors": vendor_plugin(found), **plugins},
                    listens_on=frozenset({listener.getsockname()[:2]}),
                    clock=clock,
                )
            )
            here.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            registry = here.gateway.core.snapshot.registry
            by = serve or choose_server(registry, "fast").create(ServerOptions()).serve
            serving = asyncio.create_task(by(here.gateway.app, listener, stop.wait))
            ready.set()
            await serving

    def run() -> None:
        asyncio.set_event_loop(here.loop)
        try:
            here.loop.run_until_complete(main())
        except BaseException as error:
            trouble.append(error)
        finally:
            here.loop.run_until_complete(here.loop.shutdown_asyncgens())
            here.loop.run_until_complete(here.loop.shutdown_default_executor())
            here.loop.close()
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(30)
    if trouble:
        raise trouble[0]
    try:
        yield here
    finally:
        if not here.loop.is_closed():
            here.loop.call_soon_threadsafe(stop.set)
        thread.join(40)
        if trouble:
            raise trouble[0]
