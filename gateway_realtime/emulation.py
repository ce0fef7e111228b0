"""A realtime session with a chat model: text events, each response an ordinary chat completion.

```text
client events ──▶ read ──▶ Session            response.create ──▶ task ──▶ pipeline ──▶ vendor
                    │                                               │
                    └────────────── events ◀────────────────────────┘
```

One response runs at a time, in a task of its own, so that the client may cancel it. A client that
does not read stops the task, and by that the vendor.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gateway_core.contracts.errors import INVALID, GatewayError
from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.caller import Caller
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.in_process import in_process
from gateway_core.routing.account_selection import PIN

from .admission import readmit
from .completion import Completion
from .events import error_event, new_id, write_event
from .session import AUDIO, EventRefused, Item, Session, SessionView, updated
from .socket import GOING_AWAY, ClientSocket, Closed

CHAT = "/v1/chat/completions"
STOPPING = "The gateway is stopping"
_PASSED_ON = ("user-agent", PIN)
"""Headers of the handshake that a request of the session has too."""

log = logging.getLogger(__name__)


class Emulation:
    """One session."""

    def __init__(self, core: Collaborators, socket: ClientSocket, model: str) -> None:
        self._core, self._socket = core, socket
        self._session = Session(model, core.environment.realtime_max_session_items)
        self._response: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._handlers: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "session.update": self._on_update,
            "conversation.item.create": self._on_item,
            "response.create": self._on_create,
            "response.cancel": self._on_cancel,
        }

    async def run(self) -> None:
        """Serve the session until the socket is closed."""
        self._socket.on_stop(self._on_stop)
        try:
            await self._show("session.created")
            while not isinstance(message := await self._socket.receive(), Closed):
                if isinstance(message, str):  # Binary messages are no events, and ignored.
                    await self._obey(message)
        finally:
            if self._response is not None:
                await self._end_response(self._response)

    async def _obey(self, message: str) -> None:
        """Do what an event asks for, or say why not."""
        try:
            event = read_event(message)
            handler = self._handlers.get(event["type"])
            if handler is None:
                raise EventRefused(f"Unknown event type {event['type'][:100]}")
            await handler(event)
        except EventRefused as refused:
            await self._socket.send(error_event(INVALID, refused.code, refused.message))

    async def _on_update(self, event: Mapping[str, Any]) -> None:
        self._session.update(event.get("session"))
        await self._show("session.updated")

    async def _on_item(self, event: Mapping[str, Any]) -> None:
        item = self._session.add(event.get("item"))
        await self._socket.send(write_event("conversation.item.created", item=item))

    async def _on_create(self, event: Mapping[str, Any]) -> None:
        if self._response is not None:
            raise EventRefused("A response is in progress", "response_in_progress")
        view, wishes = self._session.view, event.get("response")
        if wishes is not None:
            view = updated(view, wishes)
        if AUDIO in view.modalities:
            raise EventRefused("This model answers in text only", "modality_not_supported")
        if not self._session.has_user_turn:
            raise EventRefused("There is no user message to respond to", "missing_user_turn")
        # The key may have been paused or deleted since the socket was opened.
        caller = await readmit(self._core, self._socket)
        if caller is not None and not self._is_stopping:
            self._response = asyncio.create_task(self._respond(caller, view))
            self._response.add_done_callback(self._on_response_end)

    async def _on_cancel(self, event: Mapping[str, Any]) -> None:
        if self._response is None:
            raise EventRefused("There is no response to cancel")
        await self._end_response(self._response)

    async def _end_response(self, task: "asyncio.Task[None]") -> None:
        """Cancel it, and wait until it has said so."""
        task.cancel()
        await asyncio.wait((task,))

    def _on_response_end(self, task: "asyncio.Task[None]") -> None:
        self._response = None
        if not task.cancelled() and task.exception() is not None:
            log.error("a response failed", exc_info=task.exception())
        if self._is_stopping:
            self._close_soon()

    def _on_stop(self) -> None:
        """A response that runs is sent to its end."""
        self._is_stopping = True
        if self._response is None:
            self._close_soon()

    def _close_soon(self) -> None:
        self._closing = asyncio.create_task(self._socket.close(GOING_AWAY, STOPPING))

    async def _show(self, type: str) -> None:
        await self._socket.send(write_event(type, session=self._session.view))

    # One response.

    async def _respond(self, caller: Caller, view: SessionView) -> None:
        response, item = new_id("resp"), new_id("item")
        completion, status = Completion(), "completed"
        created = {"id": response, "status": "in_progress"}
        await self._socket.send(write_event("response.created", response=created))
        try:
            await self._stream(caller, view, completion, response, item)
        except asyncio.CancelledError:
            status = "cancelled"
        except GatewayError as error:
            status = "failed"
            await self._socket.send(error_event(error.type, error.code, error.message))
        await self._finish(completion, status, response, item)

    async def _stream(
        self, caller: Caller, view: SessionView, completion: Completion, response: str, item: str
    ) -> None:
        """Raises GatewayError for what the pipeline or the vendor refuses."""
        body = msgspec.json.encode(self._session.request(view))
        headers = {n: v for n in _PASSED_ON if (v := self._socket.headers.get(n)) is not None}
        found = Endpoints(self._core.snapshot.registry.formats.values()).find(CHAT)
        if found is None:
            raise GatewayError("No installed format has chat completions")
        async with in_process(self._core, found[0], caller, body, headers) as answer:
            if answer.status != 200:
                completion.fail(await answer.body())
            async for piece in answer.pieces():
                for delta in completion.feed(piece):
                    await self._socket.send(
                        write_event(
                            "response.output_text.delta",
                            **place(response, item),
                            delta=delta,
                        )
                    )
        completion.close()

    async def _finish(self, completion: Completion, status: str, response: str, item: str) -> None:
        """The last events of a response. What there is of its text joins the conversation."""
        text, output = completion.text, []
        if status == "completed" or text:
            done = write_event("response.output_text.done", **place(response, item), text=text)
            await self._socket.send(done)
            content = [{"type": "output_text", "text": text}]
            turn = Item(item, "message", "assistant", content)
            output.append(turn)
            self._keep(turn, text)
        members: dict[str, Any] = {"id": response, "status": status, "output": output}
        if completion.usage is not None:
            members["usage"] = completion.usage
        members["finish_reason"] = completion.finish_reason
        await self._socket.send(write_event("response.done", response=members))

    def _keep(self, turn: Item, text: str) -> None:
        try:
            self._session.keep(turn, text)
        except EventRefused:
            log.info("the turn of a session's assistant found no place in it")


def place(response: str, item: str) -> dict[str, Any]:
    """Where a text belongs."""
    return {"response_id": response, "item_id": item, "output_index": 0, "content_index": 0}


def read_event(message: str) -> Mapping[str, Any]:
    """A client event. Raises EventRefused."""
    try:
        event = msgspec.json.decode(message)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise EventRefused("invalid JSON event") from None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise EventRefused("An event is a JSON object with a type")
    return event
