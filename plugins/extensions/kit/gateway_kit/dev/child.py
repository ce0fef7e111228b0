"""The process that loads the plugin and serves it, until its standard input ends."""

import asyncio
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from gateway_core import ProviderSpec, server
from gateway_core.app import Gateway
from gateway_core.cli.options import look
from gateway_core.config.errors import ConfigError, StartRefused
from gateway_core.plugins import State
from gateway_core.plugins.discovery import Found
from gateway_core.plugins.files import PluginFolder
from gateway_core.plugins.manifest import auth_type
from gateway_core.plugins.registry import Registry
from gateway_core.storage.stores.connection import PROVIDER_DATA, NewConnection
from gateway_kit.installed_formats import TO_INSTALL
from gateway_kit.providers import Account
from gateway_kit.results import NotFound, find
from gateway_kit.results.conformance_options import BadGiven, given_by
from gateway_kit.shell_quoting import quoted

from . import log_output
from .first_request import first_request, names_of, way_in
from .messages import GO, Orders, Said, encode, read_orders
from .network import Turned
from .staging import environment_of, stage
from .vendors import BESIDE, beside, vendor_of

HERE = "127.0.0.1"
MOST_SHOWN = 5
"""How many models are named."""


class Broken(Exception):
    """The plugin cannot be served. The message says why."""


REFUSED = (BadGiven, Broken, ConfigError, NotFound, StartRefused, server.ServerError)
"""What says by its message why nothing is served."""


class Parent:
    """Whoever started this process."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def tell(self, text: str, step: str = "") -> None:
        """Raises OSError when nobody listens any more."""
        self._out.write(encode(Said(text, step)) + b"\n")
        self._out.flush()


def main() -> None:
    """Do what the only argument orders. What a plugin prints goes to the error output."""
    parent = Parent(sys.stdout.buffer)
    sys.stdout = sys.stderr
    # A compiled file counts as fresh for a second, and an author may save twice in one.
    sys.dont_write_bytecode = True
    orders = read_orders(sys.argv[1].encode())
    log_output.begin(parent.tell)
    with suppress(OSError):
        try:
            found, registry = _loaded(orders)
            parent.tell("", "sound")
            if sys.stdin.buffer.readline() == GO:
                server.run(partial(_serve, orders, found, registry, parent))
        except REFUSED as error:
            parent.tell(str(error), "broken")
            sys.exit(1)


def _loaded(orders: Orders) -> tuple[Found, Registry]:
    """What the gateway makes of the plugin, before it is opened. Raises Broken."""
    data_dir = Path(orders.data_dir)
    found = find(orders.target, PluginFolder(Path(orders.plugins)))
    stage(found, data_dir)
    registry = look(environment_of(found, data_dir)).registry
    plugin = next((each for each in registry.plugins if each.name == found.name), None)
    if plugin is None or plugin.state is not State.LOADED:
        why = "it was not found" if plugin is None else plugin.error or plugin.state
        raise Broken(f"{found.name} cannot be loaded: {why}")
    if way_in(found.name, registry)[0] is None:
        raise Broken(f"No wire format is installed to ask {found.name} in: {TO_INSTALL}")
    return found, registry


async def _serve(orders: Orders, found: Found, seen: Registry, parent: Parent) -> None:
    """Raises StartRefused, ServerError."""
    stop = asyncio.Event()
    _watch_input(stop)
    listener = server.listen(HERE, orders.port)
    extra = beside(found.name, seen, orders.wire)
    environment = environment_of(found, Path(orders.data_dir), extra)
    opening = Gateway.open(
        environment, extra_plugins=extra, listens_on=frozenset({listener.getsockname()[:2]})
    )
    async with opening as gateway:
        registry = gateway.core.snapshot.registry
        providers = _own(registry, found.name)
        vendor = vendor_of(orders, registry, providers)
        await vendor.open()
        network = gateway.core.network = Turned(vendor.url, parent.tell)
        try:
            await _add_accounts(gateway, found, providers)
            base = f"http://{HERE}:{orders.port}"
            inside = _inside(orders, base)
            parent.tell(_greeting(base, found, registry, providers) + inside, "serving")
            door = server.Door(server.limits_of(environment), partial(_cut, gateway))
            hurrying = asyncio.create_task(_hurry(stop, door))
            await server.choose().serve(gateway.app, listener, stop, door)
            await hurrying
        finally:
            await network.aclose()
            await vendor.aclose()


def _watch_input(stop: asyncio.Event) -> None:
    """Stop when the parent closes our input, or is gone."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        sys.stdin.buffer.read()
        with suppress(RuntimeError):  # the loop may have ended by itself
            loop.call_soon_threadsafe(stop.set)

    Thread(target=wait, daemon=True).start()


async def _hurry(stop: asyncio.Event, door: server.Door) -> None:
    """The next one waits for the port, so what still runs gets only a moment."""
    await stop.wait()
    door.hurry()


def _cut(gateway: Gateway) -> None:
    gateway.core.state.is_stopping = True


def _own(registry: Registry, plugin: str) -> list[ProviderSpec]:
    """The plugin's vendors, or the one that was made up for it."""
    owners = registry.provider_plugins
    return [spec for id, spec in registry.providers.items() if owners[id] in (plugin, BESIDE)]


async def _add_accounts(gateway: Gateway, found: Found, providers: list[ProviderSpec]) -> None:
    """One for each vendor that needs one and has none."""
    core = gateway.core
    known = given_by(found.module, found.load()).accounts
    for spec in providers:
        if auth_type(spec) == "none" or core.snapshot.accounts.get(spec.id):
            continue
        account = known.get(spec.id, Account())
        data: dict[str, Any] = {PROVIDER_DATA: dict(account.data)}
        if account.secret is not None:
            data["apiKey"] = account.secret
        new = NewConnection(provider=spec.id, name="mock vendor", data=data)
        await core.stores.connections.create(new)
    await core.refresh()


def _inside(orders: Orders, base: str) -> str:
    """How to look at the gateway's own figures, and at an extension's routes under /api."""
    command = f"model-gateway --data-dir {quoted(orders.data_dir)} api --url {base} GET"
    return f"\nLook inside:\n\n  {command} /api/usage/history\n"


def _greeting(base: str, found: Found, registry: Registry, providers: list[ProviderSpec]) -> str:
    names = names_of(providers)
    more = f" and {len(names) - MOST_SHOWN} others" if len(names) > MOST_SHOWN else ""
    models = f"{', '.join(names[:MOST_SHOWN])}{more}" if names else "none"
    lines = [f"{found.name} is served on {base}; models: {models}"]
    request = first_request(base, found.name, registry, providers)
    if request is not None:
        lines += ["", "Try it:", "", request, ""]
    return "\n".join(lines)
