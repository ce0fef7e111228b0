"""Serving with uvicorn's HTTP/1.1, behind our edge."""

import asyncio

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .door import App, Door, Make
from .front import Front
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


def by_uvicorn(app: App, door: Door) -> Make:
    """uvicorn's protocol behind the edge, for connections of HTTP/1.1."""
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

    return lambda: Front(app, door, usual, behind)
