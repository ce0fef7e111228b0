"""The process that loads the plugin and serves it, until its standard input ends."""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from gateway_administration.plugins.manifest import auth_type
from gateway_cli.event_loop import run
from gateway_cli.listening import ServerError, listen
from gateway_cli.options import look
from gateway_cli.server_limits import read_limits
from gateway_cli.servers import choose_server
from gateway_core import ProviderSpec
from gateway_core.app import Gateway
from gateway_core.config.errors import ConfigError, StartRefused
from gateway_core.contracts.server import Server, ServerOptions
from gateway_core.plugins import State
from gateway_core.plugins.discovery import Found
from gateway_core.plugins.files import PluginFolder
from gateway_core.plugins.registry import Registry
from gateway_core.storage.stores.connection import PROVIDER_DATA, NewConnection
from gateway_kit.installed_formats import INSTALL_DEFAULT_FORMAT
from gateway_kit.providers import Account
from gateway_kit.providers.conformance_options import (
    BadConformanceOptions,
    load_dialects,
    read_conformance_options,
)
from gateway_kit.results import NotFound, find
from gateway_kit.shell_quoting import quote

from . import log_output
from .first_request import find_endpoint, first_request, model_names
from .messages import GO, ChildMessage, ChildOptions, encode, read_options
from .network import ReportingNetwork
from .staging import environment_of, stage_plugin
from .vendors import STAND_IN_PLUGIN, build_vendor, stand_ins

HERE = "127.0.0.1"
MOST_SHOWN = 5
"""How many models are named."""


class PluginUnusable(Exception):
    """The plugin cannot be served. The message says why."""


REFUSED = (
    BadConformanceOptions,
    PluginUnusable,
    ConfigError,
    NotFound,
    StartRefused,
    ServerError,
)
"""Errors whose message says why nothing is served."""


class Parent:
    """Whoever started this process."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def tell(self, text: str, step: str = "") -> None:
        """Raises OSError when the reader is gone."""
        self._out.write(encode(ChildMessage(text, step)) + b"\n")
        self._out.flush()


def main() -> None:
    """Do what the only argument orders. What a plugin prints goes to the error output."""
    parent = Parent(sys.stdout.buffer)
    sys.stdout = sys.stderr
    # A compiled file counts as fresh for a second, and an author may save twice in one.
    sys.dont_write_bytecode = True
    options = read_options(sys.argv[1].encode())
    log_output.configure(parent.tell)
    with suppress(OSError):
        try:
            found_plugin, registry = _load_plugin(options)
            parent.tell("", "sound")
            if sys.stdin.buffer.readline() == GO:
                run(partial(_serve, options, found_plugin, registry, parent))
        except REFUSED as error:
            parent.tell(str(error), "broken")
            sys.exit(1)


def _load_plugin(options: ChildOptions) -> tuple[Found, Registry]:
    """What the gateway makes of the plugin, before it is opened. Raises PluginUnusable."""
    data_dir = Path(options.data_dir)
    found_plugin = find(options.target, PluginFolder(Path(options.plugins)))
    stage_plugin(found_plugin, data_dir)
    registry = look(environment_of(found_plugin, data_dir)).registry
    plugin = next((each for each in registry.plugins if each.name == found_plugin.name), None)
    if plugin is None or plugin.state is not State.LOADED:
        why = "it was not found" if plugin is None else plugin.error or plugin.state
        raise PluginUnusable(f"{found_plugin.name} cannot be loaded: {why}")
    if find_endpoint(found_plugin.name, registry)[0] is None:
        raise PluginUnusable(
            f"No wire format is installed to ask {found_plugin.name} in: {INSTALL_DEFAULT_FORMAT}"
        )
    return found_plugin, registry


async def _serve(
    options: ChildOptions, found_plugin: Found, registry_at_load: Registry, parent: Parent
) -> None:
    """Raises StartRefused, ServerError."""
    stop = asyncio.Event()
    _watch_input(stop)
    listener = listen(HERE, options.port)
    extra = stand_ins(found_plugin.name, registry_at_load, options.wire)
    environment = environment_of(found_plugin, Path(options.data_dir), extra)
    network = ReportingNetwork(parent.tell)
    opening = Gateway.open(
        environment,
        extra_plugins=extra,
        listens_on=frozenset({listener.getsockname()[:2]}),
        network=network,
    )
    async with opening as gateway:
        registry = gateway.core.snapshot.registry
        owners = registry.provider_plugins
        providers = [
            spec
            for id, spec in registry.providers.items()
            if owners[id] in (found_plugin.name, STAND_IN_PLUGIN)
        ]
        plugin = found_plugin.load()
        own = read_conformance_options(found_plugin.module, plugin)
        lacks = frozenset(own.lacks)
        vendor = build_vendor(options, registry, providers, load_dialects(own, plugin), lacks)
        await vendor.open()
        network.origin = vendor.url
        try:
            await _add_accounts(gateway, own.accounts, providers)
            base = f"http://{HERE}:{options.port}"
            command = f"model-gateway --data-dir {quote(options.data_dir)} api --url {base} GET"
            inside = f"\nLook inside:\n\n  {command} /api/usage/history\n"
            without = f"\nIts vendors lack {', '.join(own.lacks)}.\n" if own.lacks else ""
            greeting = _greeting(base, found_plugin, registry, providers)
            parent.tell(greeting + without + inside, "serving")
            server = choose_server(registry).create(
                ServerOptions(limits=read_limits(environment), before_cancel=partial(_cut, gateway))
            )
            hurry = asyncio.create_task(_hurry(stop, server))
            await server.serve(gateway.app, listener, stop.wait)
            await hurry
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


async def _hurry(stop: asyncio.Event, server: Server) -> None:
    """The next one waits for the port, so what still runs gets only a moment."""
    await stop.wait()
    server.shorten_drain()


def _cut(gateway: Gateway) -> None:
    gateway.core.state.is_stopping = True


async def _add_accounts(
    gateway: Gateway, accounts: Mapping[str, Account], providers: list[ProviderSpec]
) -> None:
    """One for each vendor that needs one and has none."""
    core = gateway.core
    for spec in providers:
        if auth_type(spec) == "none" or core.snapshot.accounts.get(spec.id):
            continue
        account = accounts.get(spec.id, Account())
        data: dict[str, Any] = {PROVIDER_DATA: dict(account.data)}
        if account.secret is not None:
            data["apiKey"] = account.secret
        new = NewConnection(provider=spec.id, name="mock vendor", data=data)
        await core.stores.connections.create(new)
    await core.refresh()


def _greeting(
    base: str, found_plugin: Found, registry: Registry, providers: list[ProviderSpec]
) -> str:
    names = model_names(providers)
    more = f" and {len(names) - MOST_SHOWN} others" if len(names) > MOST_SHOWN else ""
    models = f"{', '.join(names[:MOST_SHOWN])}{more}" if names else "none"
    lines = [f"{found_plugin.name} is served on {base}; models: {models}"]
    request = first_request(base, found_plugin.name, registry, providers)
    if request is not None:
        lines += ["", "Try it:", "", request, ""]
    return "\n".join(lines)
