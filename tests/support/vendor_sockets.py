"""Vendors' sockets on loopback, which speak as the vendors' published references show.

The recordings that other tests replay are of HTTP alone: none of them is of a socket, realtime or
live. So the events are the references' examples, shortened, in the order that these have.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

Dialogue = Callable[[ServerConnection], None]
LIVE_MODEL = "gemini-live-2.5-flash-preview"
USAGE = {
    "total_tokens": 275,
    "input_tokens": 127,
    "output_tokens": 148,
    "input_token_details": {"text_tokens": 119, "audio_tokens": 8, "cached_tokens": 64},
    "output_token_details": {"text_tokens": 36, "audio_tokens": 112},
}


class VendorSockets:
    """A listener whose sockets are served by one dialogue, each in a thread of its own."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.requests: list[Request] = []
        self.heard: list[str | bytes] = []
        """The messages of all clients, in order."""
        self.closed: list[tuple[int | None, str | None]] = []
        self.gone = threading.Semaphore(0)
        """Is released once for each socket that is over."""
        self.refusal: int | None = None
        """The status that the next handshakes are refused with."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        self._server = serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._refuse,
            compression=None,
            max_size=None,
        )
        # It looks again and again whether its sockets are over, by itself ten times a second.
        self._server.SHUTDOWN_POLLING_INTERVAL = 0.005
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(10)

    def _refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if self.refusal is None:
            return None
        return connection.respond(self.refusal, '{"error":{"message":"refused"}}')  # type: ignore[arg-type]

    def _serve(self, connection: ServerConnection) -> None:
        original = connection.recv

        def recv(*words: Any, **more: Any) -> Any:
            message = original(*words, **more)
            self.heard.append(message)
            return message

        connection.recv = recv  # type: ignore[method-assign]
        try:
            self.dialogue(connection)
        except ConnectionClosed:
            pass
        finally:
            connection.close()
            self.closed.append((connection.close_code, connection.close_reason))
            self.gone.release()


@contextmanager
def vendor_sockets(dialogue: Dialogue) -> Iterator[VendorSockets]:
    vendor = VendorSockets(dialogue)
    vendor.open()
    try:
        yield vendor
    finally:
        vendor.close()


def tell(connection: ServerConnection, type: str, **members: Any) -> None:
    connection.send(json.dumps({"type": type, "event_id": f"event_{type}", **members}))


def respond(connection: ServerConnection, number: int, usage: Mapping[str, Any] = USAGE) -> None:
    """One response in text."""
    response = {"object": "realtime.response", "id": f"resp_{number}", "output": []}
    tell(connection, "response.created", response={**response, "status": "in_progress"})
    place = {"item_id": "item_1", "output_index": 0, "content_index": 0}
    tell(
        connection,
        "response.output_text.delta",
        response_id=f"resp_{number}",
        delta="Hällo",
        **place,
    )
    done = {**response, "status": "completed", "usage": usage}
    tell(connection, "response.done", response=done)


def realtime(connection: ServerConnection) -> None:
    """A conversation: each ``response.create`` gets a response, and nothing else an answer."""
    session = {"id": "sess_1", "object": "realtime.session", "type": "realtime"}
    tell(connection, "session.created", session=session)
    number = 0
    while True:
        event = read(connection)
        if event.get("type") == "response.create":
            number += 1
            respond(connection, number)
        elif event.get("type") == "session.update":
            tell(connection, "session.updated", session=event["session"])


def bidi(connection):
    """A live session: its answers are JSON in binary messages."""

    def say(**message):
        connection.send(json.dumps(message).encode())

    setup = read(connection)["setup"]
    assert setup["model"] == f"models/{LIVE_MODEL}"
    say(setupComplete={})
    while True:
        event = read(connection)
        if "client_content" in event or "clientContent" in event:
            say(serverContent={"modelTurn": {"role": "model", "parts": [{"text": "Hällo"}]}})
            used = {"promptTokenCount": 11, "responseTokenCount": 4, "totalTokenCount": 15}
            say(serverContent={"turnComplete": True}, usageMetadata=used)


def read(connection: ServerConnection) -> dict[str, Any]:
    """The next event; an empty one for what is none."""
    message = connection.recv()
    try:
        event = json.loads(message)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
