"""A realtime session as a client has it, and gateways in every server that it may be opened at."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from custom_node import without_models
from fake_vendor import MockResponse, ReceivedRequest, Script
from gateway_process import Running
from other_servers import embedded
from served_gateway import Served, serve_gateway
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from gateway_cli.hypercorn_server import HypercornServer
from gateway_core.contracts.server import ServerOptions

SERVERS = ("uvloop", "asyncio", "own hypercorn", "hypercorn", "uvicorn")
"""Ours on both event loops; hypercorn as the command line starts it; both as released."""
MODEL = "v-openai/m-1"
PATIENCE = 10.0
WORDS = ("Hello", ", ", "wörld")
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    return b"data: " + json.dumps({**body, "choices": [choice], **more}).encode() + b"\n\n"


USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
ENDING = (
    chunk(finish="stop"),
    b"data: "
    + json.dumps(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m-1",
            "choices": [],
            "usage": USAGE,
        }
    ).encode()
    + b"\n\n",
    b"data: [DONE]\n\n",
)


def says(received: ReceivedRequest) -> MockResponse:
    """A vendor's whole answer."""
    return MockResponse.stream(*(chunk(word) for word in WORDS), *ENDING)


@without_models
def begins(received: ReceivedRequest) -> MockResponse:
    """A vendor's answer that does not end."""
    return MockResponse.stream(chunk("Hello"), hang=True)


def refuses(received: ReceivedRequest) -> MockResponse:
    return MockResponse((b'{"error":{"message":"No such thing","type":"x","code":"bad"}}',), 422)


@contextmanager
def place(server: str, folder: Path, script: Script = says, **more: Any) -> Iterator[Served]:
    """A gateway with a fake vendor, in one of ``SERVERS``."""
    scripts = {"openai": script}
    if server in ("hypercorn", "uvicorn"):
        with embedded(server, folder, scripts, **more) as guest:
            yield guest.here
        return
    if server == "own hypercorn":
        more["serve"] = HypercornServer(ServerOptions()).serve
    else:
        more["server"] = server
    with serve_gateway(folder, scripts, **more) as here:
        yield here


class Session:
    """One socket. Received events are checked for what every event has."""

    def __init__(
        self, here: "Served | Running", query: str = f"?model={MODEL}", **more: Any
    ) -> None:
        address = f"{here.url.replace('http', 'ws', 1)}/v1/realtime{query}"
        self._stack = ExitStack()
        self.socket: ClientConnection = self._stack.enter_context(
            connect(address, open_timeout=PATIENCE, proxy=None, max_size=None, **more)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def send(self, type: str, **members: Any) -> None:
        self.socket.send(json.dumps({"type": type, **members}))

    def event(self, type: str | None = None) -> dict[str, Any]:
        """The next event, of this type."""
        event: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
        assert event["event_id"].startswith("evt_"), event
        assert type is None or event["type"] == type, event
        return event

    def refusal(self) -> tuple[str, str]:
        """The code and the message of an error, which is the next event."""
        error = self.event("error")["error"]
        assert set(error) == {"type", "code", "message"}
        return error["code"], error["message"]

    def until(self, type: str) -> list[dict[str, Any]]:
        """The events up to the first of this type."""
        events = [self.event()]
        while events[-1]["type"] != type:
            events.append(self.event())
        return events

    def ask(self, item: dict[str, Any] = USER) -> None:
        """Add a message, and have it answered."""
        self.send("conversation.item.create", item=item)
        self.event("conversation.item.created")
        self.send("response.create")

    def closing(self) -> tuple[int, str]:
        """How the server closes the socket, whatever it says before."""
        try:
            while True:
                self.socket.recv(timeout=PATIENCE)
        except ConnectionClosed as closed:
            frame = closed.rcvd
            return (1006, "") if frame is None else (frame.code, frame.reason)
