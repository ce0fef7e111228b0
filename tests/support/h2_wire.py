"""A client and a connection of HTTP/2 in one process, with nothing between them."""

import asyncio
from typing import Any

from gateway_server_fast.connections import App, ConnectionManager
from gateway_server_fast.multiplexed.connection import Http2Connection
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.settings import SettingCodes

from gateway_core import ServerLimits

Header = tuple[bytes, bytes]


class Wire(asyncio.Transport):
    """Takes everything until it is closed, and keeps each write by itself."""

    closed = False
    waiting = 0
    """How much of it the client has not taken, if that is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: Any) -> None:
        assert not self.closed
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Pair:
    """The connection, and a client that tells it what it is told to."""

    def __init__(self, app: App, *, window: int = 65_535) -> None:
        """``window`` is what a client takes of an answer before it says more."""
        self.manager, self.wire = ConnectionManager(ServerLimits()), Wire()
        self.line = Http2Connection(app, self.manager)
        config = H2Configuration(client_side=True, header_encoding=None)
        self.client = H2Connection(config)
        self.events: list[Event] = []
        self.line.connection_made(self.wire)
        self.client.initiate_connection()
        self.client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.client.increment_flow_control_window(2**20)
        self.tell()
        self.hear()

    async def request(self, method: str = "GET", *headers: Header, ends: bool = True) -> int:
        """Begin a request, and let the application begin with it; ``ends`` without a body."""
        number = self.client.get_next_available_stream_id()
        written = [(b":method", method.encode()), (b":scheme", b"https")]
        written += [(b":path", b"/"), (b":authority", b"a"), *headers]
        self.client.send_headers(number, written, end_stream=ends)
        self.tell()
        await asyncio.sleep(0)
        return number

    def tell(self) -> None:
        """Send what the client has to say."""
        self.line.data_received(self.client.data_to_send())

    def hear(self) -> int:
        """Let the client have what was written, and give the number of writes."""
        writes, self.wire.writes = self.wire.writes, []
        for data in writes:
            self.events += self.client.receive_data(data)
        return len(writes)

    def body(self, number: int) -> bytes:
        """What the client has of an answer's body."""
        return b"".join(each.data for each in self.of(number, DataReceived))

    def headers(self, number: int) -> dict[bytes, bytes]:
        heads = self.of(number, ResponseReceived)
        return dict(heads[0].headers) if heads else {}

    def has_ended(self, number: int) -> bool:
        return bool(self.of(number, StreamEnded))

    def reset(self, number: int) -> int | None:
        """The code that ended a stream, if it did not end in order."""
        resets = self.of(number, StreamReset)
        return int(resets[0].error_code) if resets else None

    @property
    def say_goodbye(self) -> int | None:
        """The code that the connection ended with."""
        written = [each for each in self.events if isinstance(each, ConnectionTerminated)]
        return int(written[0].error_code or 0) if written else None

    def of(self, number: int, kind: type[Any]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind) and e.stream_id == number]
