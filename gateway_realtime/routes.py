"""Every path of a socket, and what a request that is no handshake gets there.

``/v1/realtime`` is for models of chat, and for those whose vendor has a socket of its own; the
other paths are the vendors' alone.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute

from gateway_core.contracts.asgi import Receive, Scope, Send
from gateway_core.contracts.errors import INVALID, GatewayError
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import error_answer
from gateway_core.identity.access import Access
from gateway_core.pipeline.context import Collaborators

from .admission import admit
from .emulation import Emulation
from .relay_plan import CHAT_PATH, NATIVE
from .socket import ClientSocket

if TYPE_CHECKING:
    from .relays import Relays

DEFAULT_MODEL = "openai/gpt-4o-mini"
UNSUPPORTED = 1008
HANDSHAKE = {
    "upgrade": "websocket. The query's `model` names the model.",
    "sec-websocket-protocol": "realtime, and the key where no header can be set: "
    "openai-insecure-api-key.<key>",
}
"""What the headers of a handshake mean."""


class UpgradeRequired(GatewayError):
    """The path is a WebSocket's, and the request is no handshake of one."""

    status = 426
    type = INVALID
    code = "upgrade_required"


def routes(core: Collaborators) -> list[Guarded]:
    relay = RelaySocket(core)
    return [
        *_routes(CHAT_PATH, RealtimeSocket(core), "open a realtime session"),
        *_routes("/v1/realtime/translations", relay, "open a session of translation"),
        *_routes("/v1/live/sessions", relay, "open a live session"),
        _vendors_own(relay),
    ]


def _routes(path: str, socket: "RelaySocket", purpose: str) -> Iterator[Guarded]:
    """The socket of a path, and its handshake as an operation."""
    yield guarded(
        path, upgrade_required, Access.INFERENCE, purpose, status=101, media="", headers=HANDSHAKE
    )
    yield Guarded(WebSocketRoute(path, socket), Access.INFERENCE, admits=True)


def _vendors_own(socket: "RelaySocket") -> Guarded:
    """The sockets that are one vendor's alone. Other requests are not answered here."""
    path = f"{NATIVE}{{provider}}/{{path:path}}"
    return Guarded(WebSocketRoute(path, socket), Access.INFERENCE, admits=True)


async def upgrade_required(request: Request) -> Response:
    """RFC 9110, section 15.5.22."""
    refused = UpgradeRequired("Open a WebSocket here: RFC 6455, section 4.1")
    response = error_answer(refused, request_id_of(request))
    response.headers["upgrade"] = "websocket"
    response.headers["connection"] = "upgrade"
    return response


class RelaySocket:
    """Serves the sockets of vendors, as an ASGI application."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core

    @cached_property
    def _relays(self) -> "Relays":
        # The network's sockets bring libraries that a gateway without sockets does not need.
        from .relays import Relays

        return Relays(self._core)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._core.environment.realtime_max_frame_bytes
        socket = ClientSocket(scope, receive, send, limit=limit)
        if await self._relays.serve(socket, scope["path"]):
            return
        if await admit(self._core, socket) is not None:
            await self.serve(socket, socket.query.get("model", ""))

    async def serve(self, socket: ClientSocket, model: str) -> None:
        """Serve an admitted caller whose socket is not relayed."""
        await socket.close(UNSUPPORTED)


class RealtimeSocket(RelaySocket):
    """The path of models that have no socket of their own."""

    async def serve(self, socket: ClientSocket, model: str) -> None:
        await Emulation(self._core, socket, model or DEFAULT_MODEL).run()
