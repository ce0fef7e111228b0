"""From an environment to a gateway that listens, and back."""

import asyncio
import contextlib
import gc
import logging
import os
import socket

import click

from . import server
from .app import Gateway
from .config.environment import Environment

log = logging.getLogger(__name__)


def serve(environment: Environment, host: str, port: int, server_name: str | None) -> None:
    """Serve until a signal asks for a stop. Raises StartRefused, ServerError."""
    chosen = server.choose(server_name)
    listener = server.listen(host, port)
    with contextlib.closing(listener):
        server.run(lambda: _serve(environment, chosen, listener))


async def _serve(environment: Environment, chosen: server.Server, listener: socket.socket) -> None:
    stop = asyncio.Event()
    server.stop_on_signals(stop)
    own = frozenset({listener.getsockname()[:2]})
    async with Gateway.open(environment, listens_on=own) as gateway:
        click.echo(greeting(gateway, chosen.name, listener))
        # What was made while starting lives as long as the process: the
        # collector need not look at it again.
        gc.collect()
        gc.freeze()
        await chosen.serve(gateway.app, listener, stop)
    log.info("stopped")


def greeting(gateway: Gateway, server_name: str, listener: socket.socket) -> str:
    """What a newcomer reads first: where it listens, and a request that works."""
    tables = gateway.core.tables
    host, port = listener.getsockname()[:2]
    base = f"http://{reachable(host)}:{port}"
    registry = tables.registry
    failed = [plugin.name for plugin in registry.plugins if plugin.error]
    lines = [
        f"Model Gateway listens on {base} ({server_name}, process {os.getpid()}).",
        f"  {len(registry.formats)} formats, {len(registry.providers)} providers, "
        f"{len(tables.accounts)} of them ready to use; data in {gateway.core.data_dir.path}",
    ]
    if failed:
        lines.append(
            f"  Plugins with a problem: {', '.join(failed)}; see `model-gateway plugins list`."
        )
    if "echo" in tables.accounts and "openai" in registry.formats:
        lines += ["", "Try it:", "", first_request(base)]
    return "\n".join([*lines, ""])


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
