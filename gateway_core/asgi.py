"""The gateway as an ASGI application for any server: ``uvicorn gateway_core.asgi:app``.

The gateway is opened from the process environment when the server starts the
lifespan, and closed when it ends it (https://asgi.readthedocs.io/en/latest/specs/lifespan.html).
A gateway that is part of another program is opened by that program; see ``gateway_core.app``.
"""

import logging
from contextlib import AsyncExitStack

from .app import Gateway
from .config.environment import from_process
from .config.errors import StartRefused
from .contracts.asgi import App, Receive, Scope, Send

log = logging.getLogger(__name__)


class LifespanApp:
    """Opens and closes a gateway with the server's lifespan, and passes requests on to it."""

    def __init__(self) -> None:
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is None:
            raise RuntimeError("the server has not started the ASGI lifespan; enable it")
        else:
            await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                gateway = await stack.enter_async_context(Gateway.open(from_process()))
            except StartRefused as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            self._app = gateway.app
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self._app = None
        await send({"type": "lifespan.shutdown.complete"})


app = LifespanApp()
