"""From an environment to a gateway that listens, and back."""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress

import click
import msgspec
from msgspec import Struct

from gateway_administration.machine import memory_size, memory_used
from gateway_core.app import Gateway
from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import Environment, Mode
from gateway_core.config.errors import StartRefused
from gateway_core.contracts.server import Server, ServerOptions

from .desktop import NOTHING, Desktop
from .event_loop import choose_loop, run
from .generations import READY, Generations, Inherited
from .listening import ServerError, listen
from .memory_pressure import MemoryPressure, memory_budget
from .server_limits import read_limits
from .servers import choose_server, read_certificate
from .signals import HANGUP, RETIRE, Meaning, hangup, stop_on_signals
from .tls_certificate import Certificate
from .whereabouts import announced
from .worker_info import WorkerInfo

log = logging.getLogger(__name__)

FIRST_KEY = """  model-gateway api POST /api/keys '{"name": "laptop", "machineId": "any"}'"""
_early_signals: list[int] = []
"""Signals to stop that came while everything was still being opened."""


class ServeOptions(Struct, frozen=True, kw_only=True):
    """What every serving process starts with."""

    environment: Environment
    listener: socket.socket
    server: str | None
    loop: str
    certificate: Certificate | None
    workers: int
    inherited: Inherited | None
    """What this process has of the first one, if a reload has started it."""
    desktop: Desktop


def serve(
    environment: Environment,
    host: str,
    port: int,
    *,
    server: str | None = None,
    loop: str | None = None,
    workers: int = 1,
    inherited: Inherited | None = None,
    desktop: Desktop = NOTHING,
) -> None:
    """Serve until a signal asks for a stop. Raises StartRefused, SystemExit."""
    # The first process of a container has no default action for a signal: signal(7), PID 1.
    signal.signal(signal.SIGTERM, lambda number, frame: _early_signals.append(number))
    if HANGUP is not None:
        # For a later generation the first process decides what the signal is for.
        signal.signal(HANGUP, _receive_hangup if inherited is None else signal.SIG_IGN)
    opened = listen(host, port) if inherited is None else socket.socket(fileno=inherited.listener)
    with closing(opened) as listener:
        try:
            _serve_on(listener, environment, server, loop, workers, inherited, desktop)
        except StartRefused as error:
            if inherited is not None:
                inherited.report(str(error).encode())
            raise


def _serve_on(
    listener: socket.socket,
    environment: Environment,
    server: str | None,
    loop: str | None,
    workers: int,
    inherited: Inherited | None,
    desktop: Desktop,
) -> None:
    certificate, loop = read_certificate(environment), choose_loop(loop)
    options = ServeOptions(
        environment=environment,
        listener=listener,
        server=server,
        loop=loop,
        certificate=certificate,
        workers=workers,
        inherited=inherited,
        # A person has seen it at the first start.
        desktop=desktop if inherited is None else NOTHING,
    )
    if workers == 1:
        info = None
        if inherited is not None:
            info = WorkerInfo(
                number=0,
                workers=1,
                parent=inherited.lifeline,
                is_first=False,
                report_ready=lambda: inherited.report(READY),
            )
        run(lambda: _serve(options, info), loop)
        return
    # Imported only here, because a single process needs nothing of it.
    from .workers import can_fork, supervise

    if not can_fork():
        raise ServerError("This system runs one worker only: leave --workers out")

    def work(info: WorkerInfo) -> None:
        try:
            run(lambda: _serve(options, info), loop)
        except StartRefused as error:
            if inherited is not None:
                inherited.report(str(error).encode())
            click.echo(f"Error: {error}", err=True)
            raise SystemExit(1) from None

    if inherited is not None:
        raise SystemExit(supervise(workers, work, _early_signals, inherited=inherited))
    # The parent holds the lock of the data directory for its workers.
    path = environment.data_path
    with DataDir(path), announced(path, address(environment, listener)):
        code = supervise(workers, work, _early_signals, listener=listener)
    raise SystemExit(code)


def _receive_hangup(number: int, frame: object) -> None:
    meaning = hangup.meaning()
    if meaning is not Meaning.NOTHING:
        _early_signals.append(number if meaning is Meaning.RELOAD else signal.SIGTERM)


class Phases:
    """How far a process is, and what it was asked for."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.retire, self.stop, self.hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()


async def _serve(options: ServeOptions, info: WorkerInfo | None = None) -> None:
    phases = Phases()
    if info is not None:
        await _serve_generation(options, info, phases, None)
    else:
        announcing = _announce(options.environment, options.listener, phases)
        # Here and not by the gateway, which may be closed while later generations serve.
        with DataDir(options.environment.data_path):
            async with announcing, _generations(options, phases) as generations:
                await _serve_generation(options, None, phases, generations)
    log.info("stopped")


@asynccontextmanager
async def _generations(options: ServeOptions, phases: Phases) -> AsyncIterator[Generations]:
    """Those that a reload starts. They end when this process does."""
    lifeline, kept = os.pipe()
    # The server closes its own listener when it retires.
    listener, loop = options.listener.dup(), asyncio.get_running_loop()
    generations = Generations(listener, lifeline, phases.retire.set, phases.stop.set, loop)

    async def stop() -> None:
        await phases.stop.wait()
        generations.stop()

    stopping = asyncio.create_task(stop())
    try:
        yield generations
        generations.end_first()
        await generations.wait()
    finally:
        stopping.cancel()
        listener.close()
        os.close(lifeline)
        os.close(kept)
    if generations.has_failed:
        raise SystemExit(1)


async def _serve_generation(
    options: ServeOptions,
    info: WorkerInfo | None,
    phases: Phases,
    generations: Generations | None,
) -> None:
    """Serve until this process is to stop, or its place is taken by a new generation."""
    environment, listener = options.environment, options.listener
    own = frozenset({listener.getsockname()[:2]})
    opening = Gateway.open(
        environment, listens_on=own, shares_data=info is not None, is_locked=True
    )
    async with opening as gateway:

        def mark_stopping() -> None:
            gateway.core.state.is_stopping = True

        def shorten_drain() -> None:
            phases.hurry.set()
            server.shorten_drain()
            if generations is not None:
                generations.stop()

        async def wait_for_drain() -> None:
            await _first_of(phases.stop, phases.retire)
            if not phases.stop.is_set():
                await _finish_requests(server, phases.stop, environment.reload_drain_ms / 1000)
                return
            gateway.core.state.is_draining = True
            with suppress(TimeoutError):
                await asyncio.wait_for(phases.hurry.wait(), environment.drain_delay_ms / 1000)

        phases.open.set()
        # Once around the loop: the gateway is announced before it greets.
        await asyncio.sleep(0)
        stores = gateway.core.stores
        # Times of a clock that begins anew with the machine; other gateways go by the wall clock.
        if info is not None and info.is_first and stores.database.engine != "postgres":
            from gateway_administration.stores.lockouts import LockoutStore

            await LockoutStore(stores.database).clear()
        spec = choose_server(gateway.core.snapshot.registry, options.server)
        server = spec.create(
            ServerOptions(
                limits=read_limits(environment),
                certificate=options.certificate,
                http2=environment.http2,
                workers=options.workers + (options.inherited is not None),
                before_cancel=mark_stopping,
            )
        )
        _listen_for_signals(phases, shorten_drain, info, generations)
        if info is None or info.is_first:
            click.echo(greeting(gateway, f"{spec.name} on {options.loop}", listener))
            possible = options.desktop.possible(environment)
            gateway.announce(address(environment, listener), **msgspec.structs.asdict(possible))
        # Objects made while starting live as long as the process: the collector need not look
        # at them again, and works from here on.
        gc.freeze()
        gc.enable()
        watching = asyncio.create_task(_memory_pressure(gateway, server, info).watch())
        if info is not None:
            info.report_ready()
        try:
            await server.serve(gateway.app, listener, wait_for_drain)
        finally:
            watching.cancel()


async def _finish_requests(server: Server, stop: asyncio.Event, within: float) -> None:
    """Let a server accept no more and finish what runs, unless a stop is asked for."""
    if not hasattr(server, "retire"):
        return  # A plugin's, made before there was such a method: it has the time of a stop.
    finishing = asyncio.create_task(server.retire())
    try:
        async with asyncio.timeout(within):
            await _first_of(stop, finishing)
    except TimeoutError:
        log.warning("requests of an earlier generation still run after %d s: they end now", within)
    finally:
        finishing.cancel()


async def _first_of(*awaited: "asyncio.Event | asyncio.Task[None]") -> None:
    tasks = [
        each if isinstance(each, asyncio.Task) else asyncio.create_task(each.wait())
        for each in awaited
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def _announce(
    environment: Environment, listener: socket.socket, phases: Phases
) -> AsyncIterator[None]:
    """Let the command line find the gateway for as long as the port is its own."""

    async def until_stop() -> None:
        await phases.open.wait()
        with announced(environment.data_path, address(environment, listener)):
            await phases.stop.wait()

    task = asyncio.create_task(until_stop())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


def _listen_for_signals(
    phases: Phases,
    shorten_drain: Callable[[], None],
    info: WorkerInfo | None,
    generations: Generations | None,
) -> None:
    if generations is not None:
        stop_on_signals(phases.stop, shorten_drain, reload=generations.request)
        if HANGUP in _early_signals:
            generations.request()
        if any(number != HANGUP for number in _early_signals):
            phases.stop.set()
    if info is None:
        return
    stop_on_signals(phases.stop, shorten_drain, (signal.SIGTERM,))
    loop, parent = asyncio.get_running_loop(), info.parent

    def on_parent_end() -> None:
        loop.remove_reader(parent)
        log.error("the parent process is gone; this worker stops")
        phases.stop.set()

    loop.add_reader(parent, on_parent_end)
    if RETIRE is not None:
        loop.add_signal_handler(RETIRE, phases.retire.set)


def _memory_pressure(gateway: Gateway, server: Server, info: WorkerInfo | None) -> MemoryPressure:
    core = gateway.core
    workers = 1 if info is None else info.workers

    def refuse(is_full: bool) -> None:
        if is_full and not core.state.is_full:
            log.warning("memory is short: new inference requests are refused")
        core.state.is_full = is_full

    budget = memory_budget(core.environment.memory_mb, memory_size(), workers)
    return MemoryPressure(budget, memory_used, refuse, server.close_idle, core.body_memory)


def greeting(gateway: Gateway, server_name: str, listener: socket.socket) -> str:
    """What a newcomer reads first: where it listens, and a request that works."""
    snapshot = gateway.core.snapshot
    base = address(gateway.core.environment, listener)
    registry = snapshot.registry
    failed = [plugin.name for plugin in registry.plugins if plugin.error]
    lines = [
        f"Model Gateway listens on {base} ({server_name}, process {os.getpid()}).",
        f"  {len(registry.formats)} formats, {len(registry.providers)} providers, "
        f"{len(snapshot.accounts)} of them ready to use; data in {gateway.core.data_dir.path}",
    ]
    if failed:
        lines.append(
            f"  Plugins with a problem: {', '.join(failed)}; see `model-gateway plugins list`."
        )
    if gateway.core.environment.mode is Mode.CONTAINER:
        lines += ["", "Clients outside the container need a key. Make one inside:", "", FIRST_KEY]
    if "echo" in snapshot.accounts and "openai" in registry.formats:
        lines += ["", "Try it:", "", first_request(base)]
    return "\n".join([*lines, ""])


def address(environment: Environment, listener: socket.socket) -> str:
    """Scheme, host and port at which a client on this machine reaches the gateway."""
    host, port = listener.getsockname()[:2]
    scheme = "http" if environment.tls_cert is None else "https"
    return f"{scheme}://{reachable(host)}:{port}"


def first_request(base: str) -> str:
    """A request that needs neither a key nor a network."""
    return (
        f"  curl {base}/v1/chat/completions -H 'content-type: application/json' \\\n"
        '    -d \'{"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}\''
    )


def reachable(host: str) -> str:
    """An address that a client on this machine can use."""
    if host in ("0.0.0.0", ""):
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host
