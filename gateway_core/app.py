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
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any, Self

from msgspec.structs import replace
from starlette.routing import BaseRoute

from . import plugins
from .config.data_dir import DataDir
from .config.environment import Environment
from .config.unsupported import check_supported
from .contracts.provider import Credential
from .http.app import App
from .http.operations import Deferred, Guarded, RouteOperation
from .http.plugin_sandbox import fenced
from .identity.access import Access
from .identity.credentials import Identity, cli_token
from .identity.keys import KeyTable, Mint
from .identity.sessions import Sessions, jwt_secret
from .metering.in_flight import InFlight
from .metering.ledger import Ledger
from .metering.limits import KeyLimits
from .metering.prices import Prices
from .metering.request_ids import RequestIds
from .metering.request_log import Extent, RequestLog, extent
from .metering.shared_spending import SharedSpending
from .pipeline.body_memory import BodyMemory
from .pipeline.context import Collaborators, RuntimeState
from .pipeline.filtering import NoFiltering
from .pipeline.interceptors import Interceptors
from .pipeline.plugin_host import Hosts
from .pipeline.request_run import RequestRun
from .plugins import Loaded, PluginSettings, Problem, registry
from .plugins.guard import PluginFailed
from .plugins.lifespans import Lifespan
from .plugins.registry import Registry
from .plugins.setting_fields import masked, secret_texts
from .plugins.trust import has_precedence, is_trusted
from .routing.account_selection import RoundRobin
from .routing.cooldown_writer import CooldownWriter
from .routing.cooldowns import Cooldowns
from .routing.environment_accounts import adopt, variables_read
from .routing.provider_limits import ProviderLimits
from .routing.snapshot import ConfigSnapshot
from .routing.snapshot_loader import SnapshotLoader
from .routing.strategies import MemberOrder
from .storage.errors import StorageFull, StorageUnavailable
from .storage.journal import Journal, recover
from .storage.opening import refusing
from .storage.stores import Stores, open_stores
from .storage.stores.usage import UsageRecord
from .upstream.egress_policy import EgressPolicy
from .upstream.proxies import environment_proxy
from .upstream.reachability import Reachability
from .upstream.transport import Network, TransportLimits

log = logging.getLogger(__name__)

MIB = 1024 * 1024
READ_AHEAD = 32 * 1024
"""Bytes of an answer after which reading waits for the client; with one read more, and with what
waits to be sent, that makes less than 256 KiB."""


class Gateway:
    """A running gateway: ``app`` is ASGI, ``core`` its collaborators."""

    def __init__(self, core: Collaborators, app: App, loaded: Loaded) -> None:
        self.core = core
        self.app = app
        self._loaded = loaded

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        environment: Environment,
        *,
        extra_plugins: Mapping[str, object] = {},
        installed_plugins: bool = True,
        plugin_settings: Mapping[str, Mapping[str, Any]] = {},
        listens_on: frozenset[tuple[str, int]] = frozenset(),
        clock: Callable[[], float] = time.time,
        shares_data: bool = False,
        is_locked: bool = False,
        network: Network | None = None,
    ) -> AsyncIterator[Self]:
        """Open a gateway and close it again.

        ``extra_plugins`` are modules by name, beside or instead of the installed ones.
        ``plugin_settings`` holds settings by plugin, which win over the stored ones.
        ``listens_on`` holds the addresses the gateway is served on, which it then never calls
        itself. ``shares_data`` says that whoever started this process keeps other gateways out
        of the data directory, and several processes use it; ``is_locked`` says the first of these
        alone. ``network`` carries every request
        to a vendor; the caller closes it. Raises StartRefused when the data directory or the
        database cannot be used; a broken plugin never stops anything.
        """
        async with AsyncExitStack() as stack:
            data_dir = DataDir(environment.data_path)
            if not (shares_data or is_locked):
                stack.enter_context(data_dir)
            loaded = plugins.load(
                allowed=frozenset(environment.load_plugins),
                blocked=frozenset(environment.block_plugins),
                extra=extra_plugins,
                entry_points=installed_plugins,
                folder=plugins.PluginFolder.of(environment.data_path),
                limit=environment.plugin_timeout_ms / 1000,
            )
            with refusing(data_dir.database):
                core = await _collaborators(
                    *(stack, environment, data_dir, loaded, plugin_settings, listens_on, clock),
                    shares_data=shares_data,
                    network=network,
                )
            routes = await _extensions(stack, core, loaded)
            yield cls(core, App(core, routes), loaded)

    def announce(self, address: str, *, browser: bool, tray: bool) -> None:
        """Call the hook ``listening`` of every plugin."""
        problems: list[Problem] = []
        event = {"address": address, "browser": browser, "tray": tray}

        def arguments(plugin: str) -> Mapping[str, object]:
            return {**event, **self.core.plugin_settings.given(plugin)}

        plugins.replies(self._loaded.manager.hook.listening, problems, arguments)
        if problems:
            self.core.amend(partial(registry.with_problems, problems=problems))


async def _collaborators(
    stack: AsyncExitStack,
    environment: Environment,
    data_dir: DataDir,
    loaded: Loaded,
    program: Mapping[str, Mapping[str, Any]],
    listens_on: frozenset[tuple[str, int]],
    clock: Callable[[], float],
    *,
    shares_data: bool,
    network: Network | None,
) -> Collaborators:
    """Build everything in the order in which one needs the other.

    What needs something that is built later gets a function that looks it up.
    """
    stores = await open_stores(data_dir, environment, clock=clock, shares_data=shares_data)
    stack.push_async_callback(stores.close)
    await recover(data_dir.journal, stores.usage)
    stored = await stores.plugin_settings.all()
    settings = plugins.settings_of(loaded, environment.variables, program, stored)
    built = await _registry(environment, stores, loaded, settings)

    prices = Prices(clock)
    keys = _key_table(environment, data_dir, stores)
    proxy = environment_proxy(environment)
    loader = SnapshotLoader(stores, built, prices, settings, keys, proxy)
    filtering = NoFiltering() if built.answer_filters else None
    state = RuntimeState(snapshot=await loader.load(), filtering=filtering)
    if network is None:
        network = Network(_limits(environment), refuse=listens_on)
        stack.push_async_callback(network.aclose)

    def owner(provider: str) -> str:
        return state.snapshot.registry.provider_plugins.get(provider, registry.RUNTIME)

    def amend(change: Callable[[Registry], Registry]) -> None:
        loader.amend(change)
        state.snapshot = replace(state.snapshot, registry=change(state.snapshot.registry))

    def leave_out(plugin: str, message: str) -> None:
        amend(partial(registry.with_problems, problems=[Problem(plugin, message)]))

    async def extent_of_log() -> Extent:
        document = await stores.settings.document()
        return extent(document, state.snapshot.settings, environment)

    async def refresh() -> None:
        state.snapshot = await loader.load()
        egress_policy.learn_accounts(_credentials(state.snapshot))
        await request_log.refresh()

    # Before any plugin sees an account, it is known where the account may lead.
    egress_policy = EgressPolicy(owner)
    egress_policy.learn(built.providers.values())
    egress_policy.learn_accounts(_credentials(state.snapshot))
    installed = tuple(zip(built.interceptor_plugins, built.interceptors, strict=True))
    interceptors = Interceptors(installed, leave_out)
    journal = Journal(data_dir.journal, secrets.token_hex(8))
    stack.push_async_callback(_end_journal, journal, stores)
    spent = stores.key_usage.spent
    if shares_data:
        spent = SharedSpending(stores.key_usage, data_dir.journal, journal.name).spent
    shared = built.shared_state
    limits = KeyLimits(
        spent, lambda: ledger.paused(), lambda: ledger.unwritten(), clock, shared=shared
    )
    observe = interceptors.after if installed else None
    count, run_type = _followed(built, limits)
    ledger = Ledger(stores.usage.insert_many, journal, prices, observe, count=count)
    request_log = RequestLog(stores.request_details, extent_of_log)
    await request_log.refresh()
    sessions = Sessions(
        jwt_secret(environment, data_dir),
        lambda: state.snapshot.settings.password_session_epoch,
        clock,
        lambda: state.snapshot.ended_sessions,
    )
    cooldowns = Cooldowns(environment, clock, None if shared is None else shared.publish)
    cooldowns.recall(chain.from_iterable(state.snapshot.accounts.values()))
    writer = CooldownWriter(cooldowns, stores.connections.note)
    core = Collaborators(
        state=state,
        environment=environment,
        data_dir=data_dir,
        stores=stores,
        network=network,
        cooldowns=cooldowns,
        round_robin=RoundRobin(),
        provider_limits=ProviderLimits(shared=shared),
        order=MemberOrder(cooldowns, time.monotonic, random.Random()),  # spreads load, no secret
        ledger=ledger,
        prices=prices,
        limits=limits,
        in_flight=InFlight(),
        request_log=request_log,
        body_memory=BodyMemory(),
        identity=Identity(
            keys=keys,
            cli_token=cli_token(data_dir.raw_machine_id(), data_dir.cli_secret()),
            read_session=sessions.read,
            clock=clock,
            public_origin=environment.base_url or environment.next_public_base_url or "",
        ),
        sessions=sessions,
        egress_policy=egress_policy,
        reachability=Reachability(network),
        interceptors=interceptors,
        new_run=run_type(RequestRun),
        run_type=run_type,
        plugin_settings=settings,
        clock=clock,
        new_id=RequestIds(),
        whole_timeout=environment.whole_timeout_ms / 1000,
        max_body=environment.max_body_mb * MIB,
        shares_data=shares_data,
        amend=amend,
        refresh=refresh,
    )
    stack.push_async_callback(_write_rest, core, writer)
    following = asyncio.create_task(loader.follow(lambda: state.snapshot, refresh))
    stack.push_async_callback(_cancel, following, asyncio.create_task(writer.follow()))
    return core


async def _registry(
    environment: Environment, stores: Stores, loaded: Loaded, settings: PluginSettings
) -> Registry:
    """What the plugins bring, with the accounts that variables describe."""
    built = registry.build(loaded, settings, trusted=frozenset(environment.trust_plugins))
    check_supported(environment.variables, variables_read(built.providers.values()))
    await adopt(stores.connections, built.providers.values(), environment)
    return built


def _followed(
    built: Registry, limits: KeyLimits
) -> tuple[Callable[[UsageRecord], None], Callable[[type[Any]], type[Any]]]:
    """What counts a row, and the class of runs that takes the place of another."""
    observation = built.observation
    if observation is None:
        return limits.record, _same
    return _both(limits.record, observation.record), observation.run_type


def _same(run_type: type[Any]) -> type[Any]:
    return run_type


def _both(
    first: Callable[[UsageRecord], None], then: Callable[[UsageRecord], None]
) -> Callable[[UsageRecord], None]:
    def record(row: UsageRecord) -> None:
        first(row)
        then(row)

    return record


def _credentials(snapshot: ConfigSnapshot) -> Iterator[Credential]:
    return (each.credential for accounts in snapshot.accounts.values() for each in accounts)


def _key_table(environment: Environment, data_dir: DataDir, stores: Stores) -> KeyTable:
    secret = data_dir.api_key_secret(environment)
    machine_id = data_dir.machine_id(environment.machine_id_salt)
    return KeyTable(Mint(secret, machine_id, stores.keys.index_key, secrets.choice))


async def _write_rest(core: Collaborators, writer: CooldownWriter) -> None:
    """Write what has not been written yet."""
    await core.ledger.aclose()
    await core.request_log.aclose()
    await writer.write()


async def _end_journal(journal: Journal, stores: Stores) -> None:
    if journal.close():
        with suppress(StorageFull, StorageUnavailable):  # One row is left behind.
            await stores.usage.forget_mark(journal.name)


async def _cancel(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _limits(environment: Environment) -> TransportLimits:
    return TransportLimits(
        connect=environment.connect_timeout_ms / 1000,
        first_byte=environment.first_byte_timeout_ms / 1000,
        silence=environment.idle_timeout_ms / 1000,
        whole=environment.whole_timeout_ms / 1000,
        buffer=READ_AHEAD,
    )


async def _extensions(
    stack: AsyncExitStack, core: Collaborators, loaded: Loaded
) -> list[Guarded | Deferred]:
    """Begin what plugins run beside the gateway, and give their routes.

    A plugin that fails here has no routes; what it brought before stays.
    """
    hosts = Hosts(core, _trusted(core, loaded))
    problems: list[Problem] = []
    routes = list(_routes(loaded, core, hosts, problems))
    hook, installed = loaded.manager.hook.lifespan, core.snapshot.registry
    contexts = plugins.replies(hook, problems, partial(_given, core, hosts), guard=loaded.guard)
    if installed.shared_state is not None:
        connecting = installed.shared_state.connect(core.cooldowns.adopt)
        contexts.insert(0, (installed.shared_state_plugin, connecting))
    if installed.observation is not None:
        plugin = installed.observation_plugin
        contexts.append((plugin, installed.observation.running(hosts.of(plugin))))
    for plugin, context in contexts:
        lifespan = Lifespan(plugin, context, loaded.guard)
        stack.push_async_callback(lifespan.leave)
        try:
            await lifespan.enter()
        except PluginFailed as failure:
            message = _without_secrets(core, plugin, f"lifespan failed: {failure}")
            plugins.report(problems, Problem(plugin, message, fatal=True))
    if problems:
        core.amend(partial(registry.with_problems, problems=problems))
    failed = {problem.plugin for problem in problems if problem.fatal}
    first = {plugin.name for plugin in loaded.plugins if has_precedence(plugin)}
    first.update(core.environment.trust_plugins)
    routes.sort(key=lambda each: each[0] not in first)
    return [route for plugin, route in routes if plugin not in failed]


def _without_secrets(core: Collaborators, plugin: str, text: str) -> str:
    """A plugin's words without the secrets of its settings."""
    settings = core.plugin_settings.current(plugin)
    return text if settings is None else masked(text, secret_texts(settings))


def _trusted(core: Collaborators, loaded: Loaded) -> frozenset[str]:
    named = frozenset(core.environment.trust_plugins)
    return frozenset(plugin.name for plugin in loaded.plugins if is_trusted(plugin, named))


def _given(core: Collaborators, hosts: Hosts, plugin: str) -> Mapping[str, object]:
    """What a plugin's hooks may take once the gateway stands."""
    more = core.plugin_settings.given(plugin)
    return {"host": hosts.of(plugin), **more}


def _routes(
    loaded: Loaded, core: Collaborators, hosts: Hosts, problems: list[Problem]
) -> Iterator[tuple[str, Guarded | Deferred]]:
    """The plugins' routes. One that does not say who may use it is left out, and told."""
    hook, trusted = loaded.manager.hook.register_routes, _trusted(core, loaded)
    arguments = partial(_given, core, hosts)
    for name, route in plugins.answers(hook, problems, arguments, guard=loaded.guard):
        is_trusted = name in trusted
        try:
            is_sound = (is_trusted and isinstance(route, Deferred)) or _is_sound(route)
            served = route if is_trusted or not is_sound else fenced(name, route)
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # the route is the plugin's
            message = f"a route is not served: reading it raised {type(error).__name__}"
            plugins.report(problems, Problem(name, message))
            continue
        if is_sound:
            if not is_trusted and route.page:
                message = f"its page {route.page!r} is not shown: it would run with the operator's"
                message += " session. GATEWAY_TRUST_PLUGINS can name the plugin."
                plugins.report(problems, Problem(name, message))
            yield name, served
        else:
            message = f"a route that is not Guarded is not served: {type(route).__name__}"
            plugins.report(problems, Problem(name, message))


def _is_sound(route: object) -> bool:
    return (
        isinstance(route, Guarded)
        and isinstance(route.route, BaseRoute)
        and isinstance(route.access, Access)
        and isinstance(route.operations, tuple)
        and isinstance(route.page, str)
        and all(isinstance(each, RouteOperation) for each in route.operations)
    )
