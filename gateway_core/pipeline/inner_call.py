"""An inference request that the gateway makes of itself, on the path of every other request."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..contracts.asgi import ON_DISCONNECT, Message
from ..identity.caller import Caller
from ..metering.request_record import RequestRecord
from .context import Collaborators
from .pipeline import drive
from .request_head import EndpointRoute, read_request_head
from .request_run import RequestRun


class InnerAnswer(Struct, frozen=True):
    """A whole answer; a stream's is everything that it has sent."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    record: RequestRecord


async def call_inside(
    core: Collaborators,
    route: EndpointRoute,
    caller: Caller,
    headers: Mapping[str, str],
    body: bytes,
    request_id: str,
) -> InnerAnswer:
    """Serve a request of a caller who is let in as any other one: its policy and limits hold, and
    it has its row in the ledger, under this id, before its answer is here.

    Cancelling it is what a client's leaving is.
    """
    headers = {**headers, "content-length": str(len(body))}
    run = RequestRun(core, read_request_head(route, {}, route.endpoint.path, caller, headers))
    run.record.request_id = request_id
    core.in_flight.begin(run.record)
    client = _Client(body)
    await drive(run, {ON_DISCONNECT: client.on_disconnect}, client.receive, client.send)
    return InnerAnswer(client.status, client.headers, b"".join(client.pieces), run.record)


class _Client:
    """The client's side of such a request, as plain ASGI."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.pieces: list[bytes] = []

    def on_disconnect(self, leave: Callable[[], None]) -> None:
        """It never leaves by itself."""

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in message["headers"]}
        else:
            self.pieces.append(message.get("body", b""))
