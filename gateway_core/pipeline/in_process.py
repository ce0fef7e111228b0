"""A request that the gateway makes of itself: the pipeline's own, without a connection.

Policy, limits, fallback and the ledger hold for it as for any client's. The answer is read piece
by piece; while nobody reads, the vendor is not read either.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from ..contracts.asgi import ON_DISCONNECT, Message
from ..identity.caller import Caller
from .context import Collaborators
from .pipeline import drive
from .request_head import EndpointRoute, read_request_head
from .request_run import RequestRun

MAX_WAITING = 4
"""Pieces of an answer that wait to be read; each has at most 64 KiB (``client_response.SLICE``)."""


class InProcessResponse:
    """The answer to a request, as it arrives."""

    def __init__(self, run: RequestRun, body: bytes) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        """Names in lower case."""
        self.record = run.record
        self._run, self._request = run, body
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_WAITING)
        self._started = asyncio.Event()
        self._leave: Callable[[], None] | None = None
        self._has_left = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body, once."""
        while (piece := await self._pieces.get()) is not None:
            yield piece

    async def body(self) -> bytes:
        """All of the body."""
        return b"".join([piece async for piece in self.pieces()])

    async def run(self) -> None:
        """Serve the request, as a server does."""
        try:
            scope = {ON_DISCONNECT: self.on_disconnect}
            await drive(self._run, scope, self.receive, self.send)
        finally:
            self._started.set()
            if not self._has_left:
                await self._pieces.put(None)

    async def wait_for_head(self) -> None:
        """Until the status is known."""
        await self._started.wait()

    def leave(self) -> None:
        """Nobody reads on: the vendor's answer is closed, and what it cost is noted."""
        self._has_left = True
        if self._leave is not None:
            self._leave()

    # The connection, as the pipeline sees it.

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._request, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            pairs = message["headers"]
            self.headers = {name.decode(): value.decode("latin-1") for name, value in pairs}
            self._started.set()
        elif message["body"]:
            await self._pieces.put(message["body"])

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        self._leave = callback
        if self._has_left:
            callback()


@asynccontextmanager
async def in_process(
    core: Collaborators,
    route: EndpointRoute,
    caller: Caller,
    body: bytes,
    headers: Mapping[str, str] = {},
    request_id: str | None = None,
    note: str = "",
) -> AsyncIterator[InProcessResponse]:
    """Send a JSON body to an endpoint as this caller. Leaving the block early ends the request, and
    once the block is left the request has its row in the ledger.

    ``headers`` are what else the client sent, names in lower case; the row has the other two.
    """
    own = {"content-type": "application/json", "content-length": str(len(body))}
    head = read_request_head(route, {}, route.endpoint.path, caller, {**headers, **own})
    run = core.new_run(core, head)
    if request_id is not None:
        run.record.request_id = request_id
    if note:
        run.record.note(note)
    core.in_flight.begin(run.record)
    response = InProcessResponse(run, body)
    task = asyncio.create_task(response.run())
    try:
        await response.wait_for_head()
        yield response
    finally:
        response.leave()
        await asyncio.wait((task,))
