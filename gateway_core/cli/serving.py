"""From an environment to a gateway that listens, and back."""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing, nullcontext
from functools import partial

import click

from .. import server
from ..app import Gateway
from ..config.data_dir import DataDir
from ..config.environment import Environment, Mode
from ..config.errors import ConfigError, StartRefused
from ..config.machine import memory_size, memory_used
from ..config.whereabouts import announced
from ..server.place import Place
from ..server.pressure import Pressure, budget_of

log = logging.getLogger(__name__)

FIRST_KEY = """  model-gateway api POST /api/keys '{"name": "laptop", "machineId": "any"}'"""
_asked_early: list[int] = []
"""Signals to stop that came while everything was still being opened."""


def serve(
    environment: Environment, host: str, port: int, server_name: str | None, workers: int = 1
) -> None:
    """Serve until a signal asks for a stop. Raises StartRefused, ServerError, SystemExit."""
    # The first process of a container is not ended by a signal that it does not handle.
    signal.signal(signal.SIGTERM, lambda number, frame: _asked_early.append(number))
    chosen = server.choose(server_name)
    entrance = server.entrance_of(environment)
    with ExitStack() as opened:
        listener = opened.enter_context(closing(server.listen(host, port)))
        if workers == 1:
            server.run(lambda: _serve(environment, chosen, listener, entrance), chosen)
        else:
            work = partial(_work, environment, chosen, listener, entrance)
            _supervise(environment, workers, work, address(environment, listener))


def _supervise(
    environment: Environment, workers: int, work: Callable[[Place], None], base: str
) -> None:
    # Imported only here, because one process alone needs nothing of it.
    from ..server.workers import can_fork, supervise

    if not can_fork():
        raise server.ServerError("This system runs one worker only: leave --workers out")
    path = environment.data_path
    with DataDir(path), announced(path, base):
        code = supervise(workers, work, _asked_early)
    raise SystemExit(code)


def _work(
    environment: Environment,
    chosen: server.Server,
    listener: socket.socket,
    entrance: server.Entrance | None,
    place: Place,
) -> None:
    """A worker's life. The data directory's lock is the parent's."""
    try:
        server.run(lambda: _serve(environment, chosen, listener, entrance, place), chosen)
    except (StartRefused, server.ServerError, ConfigError) as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(1) from None


async def _serve(
    environment: Environment,
    chosen: server.Server,
    listener: socket.socket,
    entrance: server.Entrance | None,
    place: Place | None = None,
) -> None:
    stop = asyncio.Event()
    own = frozenset({listener.getsockname()[:2]})
    opening = Gateway.open(environment, listens_on=own, shares_data=place is not None)
    finding = _being_found(environment, listener, stop) if place is None else nullcontext()
    async with opening as gateway, finding:
        if place is not None and place.is_first:
            await gateway.core.stores.lockouts.clear()
        door = server.Door(server.limits_of(environment), partial(_cut, gateway), entrance)
        _listen_for_stop(stop, door, place)
        if place is None or place.is_first:
            click.echo(greeting(gateway, chosen.name, listener))
        # What was made while starting lives as long as the process: the
        # collector need not look at it again, and works from here on.
        gc.freeze()
        gc.enable()
        watching = asyncio.create_task(_pressure(gateway, door, place).watch())
        if place is not None:
            place.ready()
        try:
            await chosen.serve(gateway.app, listener, stop, door)
        finally:
            watching.cancel()
    log.info("stopped")


@asynccontextmanager
async def _being_found(
    environment: Environment, listener: socket.socket, stop: asyncio.Event
) -> AsyncIterator[None]:
    """Let the command line find the gateway for as long as the port is its own."""

    async def until_stop() -> None:
        with announced(environment.data_path, address(environment, listener)):
            await stop.wait()

    task = asyncio.create_task(until_stop())
    # It begins before anybody knows of the gateway, and learns of a stop before the door does.
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


def _listen_for_stop(stop: asyncio.Event, door: server.Door, place: Place | None) -> None:
    if place is None:
        server.stop_on_signals(stop, door.hurry)
        if _asked_early:
            stop.set()
        return
    server.stop_on_signals(stop, door.hurry, (signal.SIGTERM,))
    loop = asyncio.get_running_loop()

    def orphaned() -> None:
        loop.remove_reader(place.parent)
        log.error("the parent process is gone; this worker stops")
        stop.set()

    loop.add_reader(place.parent, orphaned)


def _cut(gateway: Gateway) -> None:
    gateway.core.state.is_stopping = True


def _pressure(gateway: Gateway, door: server.Door, place: Place | None) -> Pressure:
    core = gateway.core
    workers = 1 if place is None else place.workers

    def refuse(is_full: bool) -> None:
        if is_full and not core.state.is_full:
            log.warning("memory is short: new inference requests are refused")
        core.state.is_full = is_full

    budget = budget_of(core.environment.memory_mb, memory_size(), workers)
    return Pressure(budget, memory_used, refuse, door.close_idle)


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
