"""Serving with uvicorn's HTTP/1.1, behind our edge."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .door import App, Door
from .front import Front
from .limits import Limits
from .plain import dated

NEVER = 10**9
"""Seconds, for a limit that the edge keeps in uvicorn's place."""


class Http1(HttpToolsProtocol):
    """uvicorn's part of a connection."""

    def __init__(self, config: uvicorn.Config, state: ServerState, app: App) -> None:
        super().__init__(config, state, {}, asyncio.get_running_loop())
        self.app = app

    def _unsupported_upgrade_warning(self) -> None:
        """Any client may ask for one, and is served as if it had not."""


class Uvicorn(Struct, frozen=True):
    loop: Callable[[], asyncio.AbstractEventLoop]
    name: str = "uvicorn"

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=NEVER,
        )
        config.load()
        state, usual = ServerState(), dated(door)

        def behind(app: App) -> Http1:
            return Http1(config, state, app)

        await door.attend(app, lambda: Front(app, door, usual, behind), listener, stop)
