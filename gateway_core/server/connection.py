"""One client's connection at the edge: what may come on it, and how long that may take.

```text
IDLE ──first byte──▶ HEAD ──▶ BODY ──▶ BUSY ──answered──▶ IDLE
  │ 15 s               │ 10 s   │ 30 s silence
  ▼                    ▼        ▼
closed                408      408, then what still comes is dropped: deaf
```

Time is the door's, which passes in ticks: no timer is set for any request.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import Any, cast

import httptools
import msgspec

from .chunks import Chunks
from .cycle import Usual
from .door import Door
from .heads import Refused, check_head, check_unfinished, refused_as
from .limits import LEAST

IDLE, HEAD, BODY, BUSY = range(4)
_END_OF_HEAD = b"\r\n\r\n"


class Connection(ABC):
    """What is in order and in time on a connection. The parser calls back into it."""

    transport: asyncio.Transport
    url: bytes
    headers: list[tuple[bytes, bytes]]
    usual: Usual

    def __init__(self, door: Door) -> None:
        self.door = door
        self.parser: Any
        self.phase = IDLE
        self.deaf = False
        """What comes is dropped: nothing more is wanted."""
        self.lingering = False
        """Our side is closed, and the client's is waited for."""
        self.mark = door.now
        """When the phase began, or enough of a body had come that it is not late."""
        self._recent = 0
        """How much of it has come since."""
        self._fed = 0
        """How many bytes the current head may have."""
        self._fresh = True
        """The current request began at the beginning of a piece."""
        self._piece = b""
        self._tail = b""
        self._chunks: Chunks | None = None

    # What depends on the requests that are being answered.

    @abstractmethod
    def is_behind(self) -> bool:
        """Whether an earlier request is still being answered, while another one comes."""

    @abstractmethod
    def may_refuse(self) -> bool:
        """Whether a refusal can be written now; ends the request it is the answer to."""

    @abstractmethod
    def passed(self, data: bytes) -> None:
        """Bytes that are in order, for whoever wants them."""

    # The life of the socket.

    def admitted(self, transport: asyncio.BaseTransport) -> bool:
        """Enter through the door, unless there are too many already."""
        self.transport = cast(asyncio.Transport, transport)
        if self.door.is_full:
            self.deaf = True
            self.transport.abort()
            return False
        self.door.visitors.add(self)
        return True

    def left(self) -> None:
        self.deaf = True
        self.door.visitors.discard(self)

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        try:
            if self.phase == IDLE or self.phase == BUSY:
                data = data.lstrip(b"\r\n")
                if not data:
                    return
                self._fresh, self._fed, self._tail = True, 0, b""
            elif self._chunks is not None:
                self._chunks.feed(data)
            self._fed += len(data)
            self._piece = data
            data = self._parsed(data)
            if self.phase == HEAD:
                check_unfinished(self.url, self._fed, self.door.limits)
                self._tail = (self._tail + data)[-3:]
            elif self.phase == BODY:
                self._came(len(data))
        except Refused as refused:
            self.refuse(refused)
        except httptools.HttpParserError as error:
            self.refuse(refused_as(error))
        else:
            self.passed(data)

    def _came(self, size: int) -> None:
        """More of a body: one that only trickles is as late as one that is silent."""
        self._recent += size
        if self._recent >= LEAST:
            self.mark, self._recent = self.door.now, 0

    def _parsed(self, data: bytes) -> bytes:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # It is ignored: the request is answered, and nothing after it is looked at.
            self.deaf = True
            return data[: upgrade.args[0]]
        return data

    # What the parser tells.

    def begun(self) -> None:
        """A request begins."""
        self.phase, self.mark = HEAD, self.door.now
        if not self._fresh:
            self._fed = 0

    def checked(self) -> None:
        """The head is complete. Raises Refused."""
        size = self._fed if self._fresh else math.inf
        if check_head(self.parser, self.url, self.headers, size, self.door.limits):
            self._expect_chunks()
        self.phase, self.mark, self._recent = BODY, self.door.now, 0

    def _expect_chunks(self) -> None:
        if not self._fresh:
            raise Refused(400, "A chunked request must wait for the answer to the one before it")
        self._chunks = Chunks()
        self._chunks.feed((self._tail + self._piece).partition(_END_OF_HEAD)[2])

    def completed(self) -> None:
        """The request has come whole."""
        self.phase, self._chunks, self._fresh = BUSY, None, False

    def answered(self) -> None:
        """The answer to the last request is out."""
        self.mark = self.door.now
        if self.phase == BODY:
            self.hang_up()
        elif self.phase == BUSY:
            self.phase = IDLE
            if self.door.closing:
                self.transport.close()

    # What the door wants.

    def look(self, now: float) -> None:
        waited, limits = now - self.mark, self.door.limits
        if self.lingering:
            if waited > limits.linger:
                self.transport.abort()
        elif self.phase == IDLE:
            if waited > limits.keep_alive:
                self.transport.close()
        elif (self.phase == HEAD and waited > limits.head_time) or (
            self.phase == BODY and waited > limits.body_silence
        ):
            self._late(now)

    def _late(self, now: float) -> None:
        """The client has not sent what it began, unless it is us who do not listen."""
        if not self.transport.is_reading() or (self.phase == HEAD and self.is_behind()):
            self.mark = now
        else:
            self.refuse(Refused(408, "The request did not come in time"))

    def close_idle(self) -> None:
        if self.phase == IDLE and not self.lingering:
            self.transport.close()

    def shut(self) -> None:
        self.close_idle()

    def abort(self) -> None:
        self.transport.abort()

    # The end.

    def refuse(self, refused: Refused) -> None:
        """Say why, and hear nothing more."""
        self.deaf = True
        if self.may_refuse():
            self.transport.write(refusal(refused, self.usual.lines))
            self.hang_up()
        else:
            self.transport.abort()

    def hang_up(self) -> None:
        """Close this side; the other may finish what it is sending, and then read why."""
        self.deaf = self.lingering = True
        self.mark = self.door.now
        if not self.transport.is_closing():
            try:
                self.transport.write_eof()
            except OSError:  # The client is gone, and the loop has not heard of it yet.
                self.transport.abort()
            else:
                self.transport.resume_reading()


def refusal(refused: Refused, usual: bytes) -> bytes:
    """A whole answer that closes the connection, with the header lines that all answers have."""
    body = msgspec.json.encode({"error": refused.message})
    status = HTTPStatus(refused.status)
    head = (
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
    )
    opening = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
    return opening.encode() + usual + head.encode() + body
