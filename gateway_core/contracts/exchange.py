"""One conversation with one vendor, told without I/O.

An exchange knows what to send and how to read what comes back. It never waits:
the dispatcher moves the bytes. Chat, media, search and native calls all become
exchanges, so there is one dispatch loop and one delivery path for every kind.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from .conversation import Losses
from .errors import UpstreamError
from .usage import Usage


class FileContent(Protocol):
    """A piece of a body that may be in a file, readable until the client's request is over."""

    size: int
    """Bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes from ``offset`` on."""
        ...


PIECE = 256 * 1024
"""Of a body that is not in memory, so many bytes are read at once."""


class BodyParts(Struct, frozen=True):
    """A body made of pieces, one behind the other, some of which may be in files."""

    parts: "tuple[bytes | FileContent, ...]"
    """In order."""

    def __len__(self) -> int:
        return sum(len(p) if isinstance(p, bytes) else p.size for p in self.parts)

    def __iter__(self) -> Iterator[bytes]:
        """The bytes in order, never more of a file than ``PIECE`` at once."""
        for part in self.parts:
            if isinstance(part, bytes):
                yield part
            else:
                for offset in range(0, part.size, PIECE):
                    yield part.read(offset, PIECE)

    def __bytes__(self) -> bytes:
        """The whole body, in memory."""
        return b"".join(self)


class Lasting(dict[str, str]):
    """Headers that many requests share, with the head that was last made of them.

    Whoever makes one does not change it any more.
    """

    __slots__ = ("written",)

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields)
        self.written: tuple[str, str, bytes] = ("", "", b"")
        """Method, the URL's line, and the bytes they begin."""


class UpstreamRequest(Struct, frozen=True, kw_only=True):
    method: str = "POST"
    """The HTTP method, in upper case."""
    url: str
    """The whole address, ``https`` or ``http``."""
    headers: Mapping[str, str] = {}
    """Names in lower case; ``host``, ``content-length`` and framing are the transport's."""
    body: bytes = b""
    """The body, whole; empty for none."""
    once: bool = False
    """Never sent a second time, not even where a kept connection turns out to be closed."""
    whole: bool = False
    """The answer is not streamed, so all of its time may pass before its first byte."""
    first_byte_timeout: float | None = None
    """Seconds until the answer's head; ``None`` takes the transport's own limit."""
    silence_timeout: float | None = None
    """Seconds between two pieces of the answer; ``None`` takes the transport's own limit."""
    parts: BodyParts | None = None
    """The body in the place of ``body``, where it may be partly in files."""
    losses: Losses | None = None
    """Where an executor names what it does not send on; ``None`` for any other reader."""


class UpstreamResponse(Protocol):
    """An answer whose head has arrived.

    ``headers`` has lower-case names. The body is read with ``next`` until it
    gives ``b""``; whoever received the response closes it, early or late.
    """

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """Names in lower case."""

    async def next(self) -> bytes:
        """All body bytes that have come since the last call, waiting for at least one.

        Raises TransportError when the vendor cuts the body short or falls silent.
        """
        ...

    async def aclose(self) -> None:
        """Give the connection back, or drop it when the body was not read to its end."""
        ...


class Transport(Protocol):
    """A way out to the network, bound to one account's proxy and timeouts."""

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Send and wait for the head of the answer. Raises TransportError."""
        ...


class SocketClosed(Struct, frozen=True):
    """A WebSocket is closed, and why."""

    code: int
    """Of RFC 6455, section 7.4; 1006 where no close frame came."""
    reason: str = ""
    """What the closing side says of it."""


class Socket(Protocol):
    """An open WebSocket to a vendor. One task may receive while another one sends."""

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the socket was closed."""
        ...

    async def send(self, content: str | bytes) -> bool:
        """Send a message, as soon as the vendor takes it; false when it takes nothing for too
        long. Does nothing once the socket is closed."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Say goodbye, and close. Does nothing the second time."""
        ...


class SocketTransport(Transport, Protocol):
    """A way out to the network that opens WebSockets too."""

    async def connect(self, request: UpstreamRequest) -> Socket:
        """Open a WebSocket by a GET to an http or https address; the handshake's own headers are
        added. Raises TransportError, and UpstreamError where the vendor refuses."""
        ...


class Exchange(Protocol):
    """What to say to a vendor, and how to turn its answer into the client's bytes.

    ``feed`` and ``close`` never raise for anything the vendor sent: trouble is
    put into ``failure``. While ``started`` is false nothing has been given to
    the client that means anything, so the dispatcher may still turn to another
    attempt; bytes given back before that are kept by the dispatcher.
    """

    request: UpstreamRequest
    """What to ask of the vendor."""
    media_type: str
    """Of the client's answer."""
    upstream_format: str
    """The wire format spoken with the vendor."""
    losses: Losses
    """What could not be carried there or back."""

    @property
    def usage(self) -> Usage | None: ...
    @property
    def started(self) -> bool:
        """True from the first frame that carries part of an answer."""
        ...

    @property
    def ended(self) -> bool:
        """True once the frame that properly ends a stream has been given."""
        ...

    @property
    def characters(self) -> int:
        """Of the answer seen so far; see Relay."""
        ...

    @property
    def failure(self) -> UpstreamError | None:
        """Why the answer is not whole, once that is known."""
        ...

    def feed(self, chunk: bytes) -> bytes:
        """Take upstream bytes, give client bytes: only whole frames, maybe none."""
        ...

    def close(self) -> bytes:
        """The upstream has ended: give what was held back, or the end of a broken stream."""
        ...

    def fail(self, error: UpstreamError) -> bytes:
        """The upstream broke off: give the client's format's error frame."""
        ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """Read a non-2xx answer."""
        ...


class Step(Struct, frozen=True, kw_only=True):
    """A further request of an exchange, after one that was answered."""

    request: UpstreamRequest
    """What to send."""
    delay: float = 0.0
    """Seconds to wait before it is sent."""
    deadline: float | None = None
    """Seconds since the exchange's first request, after which it is given up with 504."""
    is_public: bool = False
    """The address came with the vendor's answer, such as that of a finished picture: any public
    host is allowed, and no credential may be sent."""
    cancel: UpstreamRequest | None = None
    """Sent when this step comes to no answer, because the client has left or the time is up: it
    stops the vendor's job."""


class ServiceExchange(Exchange, Protocol):
    """The exchange of a service. It may need several requests: parts of an input that is too
    long for one, or a job that is submitted, polled and fetched.

    For each answer with a 2xx status ``read_head`` is called first, then ``feed`` for what comes,
    then ``close``. When ``close`` has left ``following`` set, that request is sent and its answer
    read in the same way. As soon as ``started`` is true the client gets what comes.
    """

    is_single: bool
    """One request is enough, whatever is answered: nothing will follow."""

    @property
    def following(self) -> Step | None:
        """The next request; ``None`` once nothing more is to be asked."""
        ...

    def read_head(self, headers: Mapping[str, str]) -> None:
        """The head of an answer with a 2xx status; ``media_type`` may be taken from it."""
        ...
