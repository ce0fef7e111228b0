"""One client's connection with many requests at once: what HTTP/2 and HTTP/3 have in common.

```text
bytes ──▶ the protocol ──▶ Stream ──▶ application
                      └──▶ Stream ──▶ …
```

Running requests are at most as many as there may be streams, also when clients
reset them: one that is reset counts until the application has let go of it. All
connections together run no more requests than there may be connections.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar
from urllib.parse import unquote

from .door import App, Door, Message, stopping
from .heads import Refused, path_of
from .limits import KIB
from .line import Header, Why
from .pseudo_heads import Head, check, refusing
from .stream import Stream

ASGI = {"version": "3.0", "spec_version": "2.3"}
STREAMS = 100
"""How many requests of a connection may run."""
WINDOW = 256 * KIB
"""How much of one body a client may send before it is read."""
LINE_WINDOW = 1024 * KIB
"""The same of all bodies of a connection."""
TABLE = 4096
"""How many bytes of headers are remembered to shorten answers, however many the client offers."""

Address = tuple[str, int]


class Multiplexed:
    """The requests of one connection."""

    version: ClassVar[str]
    troubles: tuple[type[Exception], ...]

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door
        self.usual: Sequence[Header] = door.usual
        self.streams: dict[int, Stream] = {}
        self.deaf = False
        """What comes is dropped: nothing more is wanted."""
        self.is_leaving = False
        """The client has said farewell: what runs is its last."""
        self.sent = door.now
        """When the last piece of an answer was sent."""
        self.queued = 0
        """How many streams wait for room that all of them share."""
        self.written = self.delivered = 0
        """How many bytes were sent in all, and how many of them the client has at least."""
        self.moved = door.now
        """When it was last seen to have more."""
        self.mark = door.now
        """When the last request ended."""
        self.running: set[asyncio.Task[None]] = set()
        self.server: Address | None = None
        self.client: Address | None = None

    # What the protocol tells.

    @property
    def is_busy(self) -> bool:
        """Whether no more requests are taken for now."""
        door = self.door
        return len(self.running) >= STREAMS or len(door.tasks) >= door.limits.connections

    def begin(self, number: int, head: Head) -> None:
        """Have a request answered whose body, if any, is to come."""
        app = stopping if self.door.closing else self.app
        try:
            check(head, self.door.limits)
        except Refused as refused:
            app = refusing(refused)
        stream = Stream(self, number, self._scope(head), self.door.now)
        self.streams[number] = stream
        task = asyncio.get_running_loop().create_task(stream.run(app))
        for tasks in (self.running, self.door.tasks):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def complete(self, number: int) -> None:
        """A request has come whole."""
        stream = self.streams.get(number)
        if stream is not None:
            stream.complete()

    def wake_senders(self) -> None:
        """There may be more room."""
        for stream in self.streams.values():
            stream.wake_sender()

    def leave_streams(self) -> None:
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            stream.leave()

    def _scope(self, head: Head) -> Message:
        raw, _, query = path_of(head.target).partition(b"?")
        path = raw.decode("latin-1")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": self.version,
            "server": self.server,
            "client": self.client,
            "scheme": "https",
            "method": head.method.decode("latin-1"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "headers": head.headers,
            "state": {},
        }

    # What the streams want.

    @property
    @abstractmethod
    def is_crowded(self) -> bool: ...

    @property
    @abstractmethod
    def is_heard(self) -> bool: ...

    @abstractmethod
    def room(self, number: int) -> int: ...

    @abstractmethod
    def send_head(self, number: int, headers: Sequence[Header]) -> None: ...

    @abstractmethod
    def send_body(self, number: int, piece: bytes, *, is_last: bool) -> None: ...

    @abstractmethod
    def reset(self, number: int, why: Why) -> None: ...

    @abstractmethod
    def restore_changes(self, number: int, size: int) -> None: ...

    @abstractmethod
    def flush(self) -> None: ...

    def piece_sent(self, number: int, frames: int = 1) -> None:
        self.sent = self.door.now
        self.streams[number] = self.streams.pop(number)  # Now it is others' turn.
        self.flush()

    def forget(self, number: int) -> None:
        self.streams.pop(number, None)
        self.mark = self.door.now
        if (self.door.closing or self.is_leaving) and not self.streams:
            self.farewell()

    # What the door wants.

    def look(self, now: float) -> None:
        waited, limits = now - self.mark, self.door.limits
        if self.streams:
            self._see_what_moves(now)
        if self.is_slow(now):
            self.throw_out()
        elif not self.streams and waited > limits.keep_alive:
            self.farewell()
        for stream in tuple(self.streams.values()):
            stream.look(now, limits)

    def close_idle(self) -> None:
        if not self.streams:
            self.farewell()

    def shut(self) -> None:
        """New requests are refused from now on, and the connection ends with the last answer."""
        self.close_idle()

    def _see_what_moves(self, now: float) -> None:
        delivered = self.written - self.on_the_way()
        if delivered > self.delivered:
            self.delivered, self.moved = delivered, now

    @abstractmethod
    def is_slow(self, now: float) -> bool:
        """Whether what has begun to come, other than bodies, takes too long."""

    @abstractmethod
    def on_the_way(self) -> int:
        """How many bytes of what was written are not with the client."""

    # The end.

    @abstractmethod
    def farewell(self) -> None:
        """End the connection in order."""

    @abstractmethod
    def throw_out(self) -> None:
        """End it because the client does what no client needs to do."""
