"""ASGI as the gateway speaks it, and the extensions that a server may offer in the scope.

Every extension is optional: without one the application does the same by ordinary
ASGI messages. The server plugin ``fast`` offers all of them.
"""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Protocol

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

App = Callable[[Scope, Receive, Send], Awaitable[None]]
Push = Callable[[bytes], bool]
HasPushed = Callable[[], bool]
Reply = Callable[[int, tuple[Header, ...], bytes], bool]
OnDisconnect = Callable[[Callable[[], None]], None]
OnStop = Callable[[Callable[[], None]], None]

PUSH = "model_gateway.push"
"""Key of the scope under which our own server offers to send more of a stream at once.
It gives false for what has to be sent in the usual way: a head, a long piece, to a slow client."""
PUSHED = "model_gateway.pushed"
"""Key of the scope for what says whether anything was pushed since it was last asked. A server that
offers ``PUSH`` without it has its pushes counted, which costs a call for each."""
REPLY = "model_gateway.reply"
"""The same for a whole answer: its status, headers (its length among them) and body."""
ON_DISCONNECT = "model_gateway.leaving"
"""Key of the scope under which our own server takes what is to be called once, when the client
leaves before the end of the answer; at once if it has left."""
ON_STOP = "model_gateway.stopping"
"""Key of a WebSocket's scope under which a server takes what is to be called once, when a stop is
requested. A socket that leaves a callback there closes by itself, within the time to drain; any
other is closed at once."""
REPEATED_HEAD = "model_gateway.kept"
"""Key of the scope for the :class:`Kept` of a head, where the server offers one."""


class DirectWriter(Protocol):
    """What our own server offers to those who answer without a task. Each gives false, and
    nothing has happened, where it is to be done in the usual way instead."""

    def reply(
        self, status: int, headers: Sequence[Header], body: bytes, ready: bytes = b""
    ) -> bool:
        """A whole answer; ``ready`` are more of its headers, as HTTP/1.1 writes them. Raises
        RuntimeError for a header that cannot be sent."""
        ...

    def open(self, headers: Sequence[Header], first: bytes, *, is_last: bool) -> bool:
        """The head of a stream, its first bytes, and its end if they are all of it. Raises
        RuntimeError for a header that cannot be sent."""
        ...

    def push(self, piece: bytes) -> bool:
        """More of a stream that was opened."""
        ...

    def has_pushed(self) -> bool:
        """Whether anything was pushed since this was last asked."""
        ...

    def end(self, last: bytes) -> bool:
        """The last of a stream, maybe nothing, and its end."""
        ...

    def run_in_task(self, app: App) -> None:
        """Have the rest done by a task."""
        ...


class RepeatedHead:
    """A place beside a head that comes again and again on a connection. What the application
    makes of the head it may leave there, and finds it with the next request."""

    __slots__ = ("length", "made")

    def __init__(self, length: bytes) -> None:
        self.length = length
        """Of this request's body, in digits: all that differs from the head before."""
        self.made: object = None
