"""From the bytes of a WebSocket to whole messages, within limits of size.

wsproto reads frames: masks, lengths, opcodes, UTF-8. It passes on the beginning of a frame as it
comes, so that no announced length makes it keep anything. No extension is negotiated: one that
compresses lets a few bytes become a thousand times as many.
"""

from collections.abc import Iterator
from typing import Any

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage

from ..connections import Message

MAX_FRAGMENTS = 1024
"""Frames of one message. An empty one costs a client six bytes, and us as much as any other."""
PROTOCOL_ERROR, TOO_BIG, GOING_AWAY, INTERNAL, ABNORMAL = 1002, 1009, 1001, 1011, 1006
"""Codes of RFC 6455, section 7.4.1."""


class Closing(Exception):
    """The socket is to be closed with a code: a client has broken the protocol or a limit."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class MessageReader:
    """One direction of a socket, and the frames that answer it."""

    def __init__(self, limit: int) -> None:
        """``limit`` is the length of the longest message, in bytes."""
        self.connection = Connection(ConnectionType.SERVER)
        self._limit = limit
        self._pieces: list[Any] = []
        self.size = 0
        """Bytes of the message that is not whole yet."""
        self._fragments = 0
        self._events: Iterator[Event] | None = None

    @property
    def is_amid_message(self) -> bool:
        return self._fragments > 0 or self.size > 0

    def feed(self, data: bytes) -> None:
        """Take bytes; ``messages`` reads them."""
        self.connection.receive_data(data)

    def messages(self) -> Iterator[Message | Ping | Pong | CloseConnection]:
        """What has come and was not read: whole messages, as the application receives them, and
        control frames. It may be left, and called again. Raises Closing."""
        for event in self.connection.events():
            if isinstance(event, TextMessage | BytesMessage):
                if (message := self._add(event)) is not None:
                    yield message
            elif isinstance(event, CloseConnection) and not self._has_closed:
                # wsproto reports bytes that it cannot read as a close that has not happened.
                raise Closing(event.code, "The frames are malformed")
            elif isinstance(event, Ping | Pong | CloseConnection):
                yield event

    @property
    def _has_closed(self) -> bool:
        """Whether the client has sent a close frame."""
        return self.connection.state in (ConnectionState.REMOTE_CLOSING, ConnectionState.CLOSED)

    def _add(self, event: TextMessage | BytesMessage) -> Message | None:
        """A message, if this piece is the last of it. Raises Closing."""
        data = event.data
        is_text = isinstance(data, str)
        self.size += (
            len(data.encode()) if isinstance(data, str) and not data.isascii() else len(data)
        )
        self._fragments += event.frame_finished
        if self.size > self._limit or self._fragments > MAX_FRAGMENTS:
            raise Closing(TOO_BIG, "The message is too long")
        self._pieces.append(data)
        if not event.message_finished:
            return None
        pieces, self._pieces, self.size, self._fragments = self._pieces, [], 0, 0
        if is_text:
            return {"type": "websocket.receive", "text": "".join(pieces)}
        return {"type": "websocket.receive", "bytes": b"".join(pieces)}
