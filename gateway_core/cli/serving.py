"""From an environment to a gateway that listens, and back."""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, nullcontext, suppress

import click
from msgspec import Struct

from ..app import Gateway
from ..config.data_dir import DataDir
from ..config.environment import Environment, Mode
from ..config.errors import StartRefused
from ..config.machine import memory_size, memory_used
from ..config.whereabouts import announced
from ..contracts.server import Server, ServerOptions
from .event_loop import choose_loop, run
from .listening import ServerError, listen
from .memory_pressure import MemoryPressure, memory_budget
from .server_limits import read_limits
from .servers import choose_server, read_certificate
from .signals import stop_on_signals
from .tls_certificate import Certificate
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


def serve(
    environment: Environment,
    host: str,
    port: int,
    *,
    server: str | None = None,
    loop: str | None = None,
    workers: int = 1,
) -> None:
    """Serve until a signal asks for a stop. Raises StartRefused, SystemExit."""
    # The first process of a container has no default action for a signal: signal(7), PID 1.
    signal.signal(signal.SIGTERM, lambda number, frame: _early_signals.append(number))
    certificate, loop = read_certificate(environment), choose_loop(loop)
    with closing(listen(host, port)) as listener:
        options = ServeOptions(
            environment=environment,
            listener=listener,
            server=server,
            loop=loop,
            certificate=certificate,
            workers=workers,
        )
        if workers == 1:
            run(lambda: _serve(options), loop)
            return
        # Imported only here, because a single process needs nothing of it.
        from .workers import can_fork, supervise

        if not can_fork():
            raise ServerError("This system runs one worker only: leave --workers out")

        def work(info: WorkerInfo) -> None:
            try:
                run(lambda: _serve(options, info), loop)
            except StartRefused as error:
                click.echo(f"Error: {error}", err=True)
                raise SystemExit(1) from None

        # The parent holds the lock of the data directory for its workers.
        path = environment.data_path
        with DataDir(path), announced(path, address(environment, listener)):
            code = supervise(workers, work, _early_signals)
        raise SystemExit(code)


async def _serve(options: ServeOptions, info: WorkerInfo | None = None) -> None:
    environment, listener = options.environment, options.listener
    stop = asyncio.Event()
    own = frozenset({listener.getsockname()[:2]})
    opening = Gateway.open(environment, listens_on=own, shares_data=info is not None)
    announcing = _announce(environment, listener, stop) if info is None else nullcontext()
    async with opening as gateway, announcing:
        hurry = asyncio.Event()

        def mark_stopping() -> None:
            gateway.core.state.is_stopping = True

        def shorten_drain() -> None:
            hurry.set()
            server.shorten_drain()

        async def wait_for_drain() -> None:
            await stop.wait()
            gateway.core.state.is_draining = True
            with suppress(TimeoutError):
                await asyncio.wait_for(hurry.wait(), environment.drain_delay_ms / 1000)

        if info is not None and info.is_first:
            await gateway.core.stores.lockouts.clear()
        spec = choose_server(gateway.core.snapshot.registry, options.server)
        server = spec.create(
            ServerOptions(
                limits=read_limits(environment),
                certificate=options.certificate,
                http2=environment.http2,
                workers=options.workers,
                before_cancel=mark_stopping,
            )
        )
        _listen_for_stop(stop, shorten_drain, info)
        if info is None or info.is_first:
            click.echo(greeting(gateway, f"{spec.name} on {options.loop}", listener))
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
    log.info("stopped")


@asynccontextmanager
async def _announce(
    environment: Environment, listener: socket.socket, stop: asyncio.Event
) -> AsyncIterator[None]:
    """Let the command line find the gateway for as long as the port is its own."""

    async def until_stop() -> None:
        with announced(environment.data_path, address(environment, listener)):
            await stop.wait()

    task = asyncio.create_task(until_stop())
    # Once around the loop: the task begins before the greeting, and waits for the stop first.
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


def _listen_for_stop(
    stop: asyncio.Event, shorten_drain: Callable[[], None], info: WorkerInfo | None
) -> None:
    if info is None:
        stop_on_signals(stop, shorten_drain)
        if _early_signals:
            stop.set()
        return
    stop_on_signals(stop, shorten_drain, (signal.SIGTERM,))
    loop, parent = asyncio.get_running_loop(), info.parent

    def on_parent_end() -> None:
        loop.remove_reader(parent)
        log.error("the parent process is gone; this worker stops")
        stop.set()

    loop.add_reader(parent, on_parent_end)


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
