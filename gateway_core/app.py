"""The composition root: builds each collaborator once and routes requests to them.

    async with Gateway.open(environment) as gateway:
        ...  # mount or serve gateway.app

A gateway is an object, not a process: several may live in one interpreter,
nothing is kept at module level, and closing one leaves nothing behind.
"""

import asyncio
import logging
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Self

from . import manifest, plugins, registry
from .config.data_dir import DataDir
from .config.environment import Environment
from .identity.credentials import Identity, cli_token
from .identity.keys import KeyTable, Mint
from .identity.sessions import Sessions, jwt_secret
from .inference.accounts import Turns
from .inference.core import Core
from .inference.environment_accounts import adopt
from .inference.health import Health
from .inference.in_flight import InFlight
from .inference.interceptors import after
from .inference.ledger import Ledger
from .inference.limits import Limits as KeyLimits
from .inference.live import Live
from .inference.observing import Extent, Observing, extent
from .inference.prices import Prices
from .inference.request_ids import RequestIds
from .inference.strategies import Order
from .inference.tables import Tables
from .inference.transport import Limits, Network
from .plugins import Loaded, Problem
from .routing import App
from .storage.stores import Stores, open_stores
from .surfaces.operation import Guarded

log = logging.getLogger(__name__)

MIB = 1024 * 1024
READ_AHEAD = 64 * 1024
"""Bytes of an answer after which reading waits for the client; one read may bring 256 KiB."""
NOTE_EVERY = 2.0
"""Seconds between two writes of how accounts fare."""


class Gateway:
    """A running gateway: ``app`` is ASGI, ``core`` its collaborators."""

    def __init__(self, core: Core, app: App) -> None:
        self.core = core
        self.app = app

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        environment: Environment,
        *,
        extra_plugins: Mapping[str, object] = {},
        installed_plugins: bool = True,
        listens_on: frozenset[tuple[str, int]] = frozenset(),
        clock: Callable[[], float] = time.time,
        shares_data: bool = False,
    ) -> AsyncIterator[Self]:
        """Open a gateway and close it again.

        ``extra_plugins`` are modules by name, beside or instead of the
        installed ones. ``listens_on`` holds the addresses the gateway is
        served on, which it then never calls itself. ``shares_data`` says that
        whoever started this process keeps other gateways out of the data
        directory, and several processes use it. Raises StartRefused when
        the data directory or the database cannot be used; a broken plugin
        never stops anything.
        """
        loaded = plugins.load(
            allowed=frozenset(environment.load_plugins),
            blocked=frozenset(environment.block_plugins),
            extra=extra_plugins,
            entry_points=installed_plugins,
            limit=environment.plugin_timeout_ms / 1000,
        )
        async with AsyncExitStack() as stack:
            data_dir = DataDir(environment.data_path)
            if not shares_data:
                stack.enter_context(data_dir)
            core = await _core(stack, environment, data_dir, loaded, listens_on, clock)
            problems: list[Problem] = []
            routes = _routes(loaded, core, problems)
            for _, context in plugins.replies(
                loaded.manager.hook.lifespan, problems, {"gateway": core}
            ):
                await _enter(stack, context)
            yield cls(core, App(core, routes))


async def _core(
    stack: AsyncExitStack,
    environment: Environment,
    data_dir: DataDir,
    loaded: Loaded,
    listens_on: frozenset[tuple[str, int]],
    clock: Callable[[], float],
) -> Core:
    stores = await open_stores(data_dir, clock=clock)
    stack.push_async_callback(stores.close)
    found = registry.build(loaded)
    await adopt(stores.connections, found.providers.values(), environment)
    prices = Prices()
    live = Live(stores, found, prices)
    network = Network(_limits(environment), refuse=listens_on)
    stack.push_async_callback(network.aclose)
    observe = partial(after, found.interceptors) if found.interceptors else None
    ledger = Ledger(stores.usage.insert_many, prices, observe)
    keys = _key_table(environment, data_dir, stores)
    live.keys = keys
    core = await _assembled(environment, data_dir, stores, live, keys, network, ledger, clock)
    core.manifest = manifest.document(found.providers.values())
    stack.push_async_callback(_settle, core)
    following = asyncio.create_task(live.follow(lambda: core.tables, core.refresh))
    noting = asyncio.create_task(_note_health(core))
    stack.push_async_callback(_cancel, following, noting)
    return core


async def _assembled(
    environment: Environment,
    data_dir: DataDir,
    stores: Stores,
    live: Live,
    keys: KeyTable,
    network: Network,
    ledger: Ledger,
    clock: Callable[[], float],
) -> Core:
    tables = await live.take()
    limits = KeyLimits(stores.key_usage.spent, ledger.still, clock)
    ledger.count = limits.record
    secret = jwt_secret(environment, data_dir)
    sessions = Sessions(secret, lambda: core.tables.settings.password_session_epoch, clock)
    health = _health(environment, tables, clock)
    core = Core(
        environment=environment,
        data_dir=data_dir,
        stores=stores,
        tables=tables,
        network=network,
        health=health,
        turns=Turns(),
        order=Order(health, time.monotonic, random.Random()),  # spreads load, guards nothing
        ledger=ledger,
        limits=limits,
        in_flight=InFlight(),
        observing=Observing(stores.request_details, lambda: _wanted(core)),
        identity=_identity(environment, data_dir, keys, sessions, clock),
        sessions=sessions,
        clock=clock,
        new_id=RequestIds(),
        whole_timeout=environment.whole_timeout_ms / 1000,
        max_body=environment.max_body_mb * MIB,
        refresh=lambda: _refresh(core, live),
    )
    await core.observing.refresh()
    return core


def _health(environment: Environment, tables: Tables, clock: Callable[[], float]) -> Health:
    """How accounts fare, as far as their rows remember it."""
    health = Health(environment, clock)
    health.recall(account for accounts in tables.accounts.values() for account in accounts)
    return health


async def _wanted(core: Core) -> Extent:
    """What is to be kept of what is said."""
    document = await core.stores.settings.document()
    return extent(document, core.tables.settings, core.environment)


def _identity(
    environment: Environment,
    data_dir: DataDir,
    keys: KeyTable,
    sessions: Sessions,
    clock: Callable[[], float],
) -> Identity:
    return Identity(
        keys=keys,
        cli_token=cli_token(data_dir.raw_machine_id(), data_dir.cli_secret()),
        read_session=sessions.read,
        clock=clock,
        public_origin=environment.base_url or environment.next_public_base_url or "",
    )


def _key_table(environment: Environment, data_dir: DataDir, stores: Stores) -> KeyTable:
    secret = data_dir.api_key_secret(environment)
    machine_id = data_dir.machine_id(environment.machine_id_salt)
    return KeyTable(Mint(secret, machine_id, stores.keys.index_key, secrets.choice))


async def _refresh(core: Core, live: Live) -> None:
    core.tables = await live.take()
    await core.observing.refresh()


async def _settle(core: Core) -> None:
    """Write what has not been written yet."""
    await core.ledger.aclose()
    await core.observing.aclose()
    notes = core.health.take_notes()
    if notes:
        await core.stores.connections.note(notes)


async def _note_health(core: Core) -> None:
    """Keep how accounts fare on their rows, a few seconds late."""
    while True:
        await asyncio.sleep(NOTE_EVERY)
        notes = core.health.take_notes()
        if notes:
            await core.stores.connections.note(notes)


async def _cancel(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def _enter(stack: AsyncExitStack, context: Any) -> None:
    await stack.enter_async_context(context)


def _limits(environment: Environment) -> Limits:
    return Limits(
        connect=environment.connect_timeout_ms / 1000,
        first_byte=environment.first_byte_timeout_ms / 1000,
        silence=environment.idle_timeout_ms / 1000,
        buffer=READ_AHEAD,
    )


def _routes(loaded: Loaded, core: Core, problems: list[Problem]) -> list[Guarded]:
    """The plugins' routes. One that does not say who may use it is left out, and told."""
    found: list[Guarded] = []
    given = plugins.answers(loaded.manager.hook.register_routes, problems, {"gateway": core})
    for name, route in given:
        if isinstance(route, Guarded):
            found.append(route)
        else:
            told = f"a route that is not Guarded is not served: {route!r}"
            log.warning("plugin %s: %s", name, told)
            problems.append(Problem(name, told))
    return found
