"""``GET /v1/realtime``: the socket, and what a request that is no handshake gets."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute

from gateway_core.contracts.asgi import Receive, Scope, Send
from gateway_core.contracts.errors import INVALID, GatewayError
from gateway_core.contracts.kinds import Kind
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import error_answer
from gateway_core.identity.access import Access
from gateway_core.pipeline.context import Core
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.snapshot import ConfigSnapshot

from .admission import admit
from .emulation import Emulation
from .events import error_event
from .socket import ClientSocket

PATH = "/v1/realtime"
DEFAULT_MODEL = "openai/gpt-4o-mini"
UNSUPPORTED = 1008


class UpgradeRequired(GatewayError):
    """The path is a WebSocket's, and the request is no handshake of one."""

    status = 426
    type = INVALID
    code = "upgrade_required"


def routes(core: Core) -> list[Guarded]:
    socket = RealtimeSocket(core)
    return [
        guarded(
            PATH,
            upgrade_required,
            Access.INFERENCE,
            "open a realtime session",
            status=101,
            media="",
            headers={
                "upgrade": "websocket. The query's `model` names the model.",
                "sec-websocket-protocol": "realtime, and the key where no header can be set: "
                "openai-insecure-api-key.<key>",
            },
        ),
        Guarded(WebSocketRoute(PATH, socket), Access.INFERENCE, admits=True),
    ]


async def upgrade_required(request: Request) -> Response:
    """RFC 9110, section 15.5.22."""
    refused = UpgradeRequired("Open a WebSocket here: RFC 6455, section 4.1")
    response = error_answer(refused, request_id_of(request))
    response.headers["upgrade"] = "websocket"
    response.headers["connection"] = "upgrade"
    return response


class RealtimeSocket:
    """Serves every socket of the path, as an ASGI application."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        core = self._core
        limit = core.environment.realtime_max_frame_bytes
        socket = ClientSocket(scope, receive, send, limit=limit)
        caller = await admit(core, socket)
        if caller is None:
            return
        model = socket.query.get("model") or DEFAULT_MODEL
        if is_realtime(core.snapshot, model):
            message = f"{model} is a realtime model, which no connected provider relays"
            await socket.send(error_event(INVALID, "model_not_supported", message))
            await socket.close(UNSUPPORTED, "The model is not relayed")
        else:
            await Emulation(core, socket, model).run()


def is_realtime(snapshot: ConfigSnapshot, name: str) -> bool:
    """Whether a model is listed as one that speaks over a socket itself."""
    try:
        target = resolve(snapshot, name, Kind.REALTIME).target
    except GatewayError:
        return False
    # A name that no list has resolves to a model of whatever kind is asked for.
    return target is not None and target.model in snapshot.models.get(target.provider.id, ())
