"""The composition root: builds each collaborator once and routes requests to them.

    async with Gateway.open(environment) as gateway:
        ...  # mount or serve gateway.app

A gateway is an object, not a process: several may live in one interpreter,
nothing is kept at module level, and closing one leaves nothing behind.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Self

from starlette.routing import BaseRoute

from . import manifest, plugins, registry
from .config.data_dir import DataDir
from .config.environment import Environment
from .inference.accounts import Turns
from .inference.core import Core
from .inference.environment_accounts import adopt
from .inference.health import Health
from .inference.interceptors import after
from .inference.ledger import Ledger
from .inference.live import Live
from .inference.prices import Prices
from .inference.request_ids import RequestIds
from .inference.strategies import Order
from .inference.transport import Limits, Network
from .plugins import Loaded, Problem
from .routing import App
from .storage.stores import Stores, open_stores

MIB = 1024 * 1024
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
    ) -> AsyncIterator[Self]:
        """Open a gateway and close it again.

        ``extra_plugins`` are modules by name, beside or instead of the
        installed ones. ``listens_on`` holds the addresses the gateway is
        served on, which it then never calls itself. Raises StartRefused when
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
            core = await _core(stack, environment, loaded, listens_on, clock)
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
    loaded: Loaded,
    listens_on: frozenset[tuple[str, int]],
    clock: Callable[[], float],
) -> Core:
    data_dir = DataDir(environment.data_path)
    stack.enter_context(data_dir)
    data_dir.api_key_secret(environment)
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
    core = await _assembled(environment, data_dir, stores, live, network, ledger, clock)
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
    network: Network,
    ledger: Ledger,
    clock: Callable[[], float],
) -> Core:
    tables = await live.take()
    health = Health(environment, clock)
    health.recall(account for accounts in tables.accounts.values() for account in accounts)
    chance = random.Random()  # spreads load, guards nothing
    core = Core(
        environment=environment,
        data_dir=data_dir,
        stores=stores,
        tables=tables,
        network=network,
        health=health,
        turns=Turns(),
        order=Order(health, time.monotonic, chance),
        ledger=ledger,
        clock=clock,
        new_id=RequestIds(),
        whole_timeout=environment.whole_timeout_ms / 1000,
        max_body=environment.max_body_mb * MIB,
        refresh=lambda: _refresh(core, live),
    )
    return core


async def _refresh(core: Core, live: Live) -> None:
    core.tables = await live.take()


async def _settle(core: Core) -> None:
    """Write what has not been written yet."""
    await core.ledger.aclose()
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
    )


def _routes(loaded: Loaded, core: Core, problems: list[Problem]) -> list[BaseRoute]:
    given = plugins.answers(loaded.manager.hook.register_routes, problems, {"gateway": core})
    return [route for _, route in given if isinstance(route, BaseRoute)]
