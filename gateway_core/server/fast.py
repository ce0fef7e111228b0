"""The HTTP/1.1 side of every client's connection: requests in, answers out, in turn."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, cast
from urllib.parse import unquote

import httptools

from ..contracts.asgi import REPEATED_HEAD
from .connection import BODY, BUSY, HEAD, IDLE, Connection
from .cycle import Cycle, Usual
from .door import App, Door, stopping
from .flow import Flow
from .heads import Refused, path_of
from .offers import AtOnce
from .repeats import MOST_WAITED_FOR, Repeated, repeated

AHEAD = 2
"""Requests of a connection that are read, the running one among them, before reading stops. While
it is stopped nobody hears that the client leaves."""
ASGI = {"version": "3.0", "spec_version": "2.3"}


class Fast(Connection, asyncio.Protocol):
    """One connection. Its requests stand in a line, and the first of them is being answered."""

    flow: Flow

    def __init__(self, app: App, door: Door, usual: Usual) -> None:
        super().__init__(door)
        self.app = stopping if door.closing else app
        self.usual = usual
        self.loop = asyncio.get_running_loop()
        self.parser = httptools.HttpRequestParser(self)
        # A client may say that it closes, and still send what was to come before.
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.server: tuple[str, int] | None = None
        self.client: tuple[str, int] | None = None
        self.scheme = "http"
        self.url, self.headers = b"", []
        self.expects_continue = False
        self.line: deque[Cycle] = deque()
        """Requests without an end of their answer; the last one may still be coming."""
        self._repeated: Repeated | None = None
        self._held = b""
        """A request with the same head as before, while not all of its body has come."""
        self._at_once: AtOnce | None = getattr(self.app, "at_once", None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.flow = Flow(cast(asyncio.Transport, transport))
        if self.admitted(transport):
            self.server = _address(transport.get_extra_info("sockname"))
            self.client = _address(transport.get_extra_info("peername"))
            if transport.get_extra_info("sslcontext"):
                self.scheme = "https"

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        self.left()
        for cycle in self.line:
            cycle.leave()
        self.line.clear()
        self.flow.resume_writing()
        self.parser = None  # It holds this object as this object holds it.

    def pause_writing(self) -> None:
        self.flow.pause_writing()

    def resume_writing(self) -> None:
        self.flow.resume_writing()

    def is_behind(self) -> bool:
        return bool(self.line)

    def may_refuse(self) -> bool:
        if not self.line:
            return True
        if self.phase != BODY or len(self.line) > 1 or self.line[0].response_started:
            return False
        self.line[0].leave()
        return True

    def data_received(self, data: bytes) -> None:
        repeated = self._repeated
        if repeated is not None and (self.phase == IDLE or self._held):
            held, self._held = self._held, b""
            if self._again(repeated, held + data):
                return
            if 0 < repeated.lacks <= MOST_WAITED_FOR and not self.deaf:
                self._hold(held, data)
                return
            self.phase, data = IDLE, held + data
        Connection.data_received(self, data)

    def _hold(self, held: bytes, data: bytes) -> None:
        """Wait for the rest of a body, as long as for any."""
        if not held:
            self.phase, self.mark, self._recent = BODY, self.door.now, 0
        self._came(len(data))
        self._held = held + data

    def _release(self) -> None:
        """Have a request whose body will not be waited for here begin as any other."""
        held, self._held = self._held, b""
        if held:
            self.phase = IDLE
            Connection.data_received(self, held)

    def refuse(self, refused: Refused) -> None:
        self._release()
        super().refuse(refused)

    def _again(self, repeated: Repeated, data: bytes) -> bool:
        """Serve a request whose head is the same as before, if it is that and nothing else."""
        body = None if self.deaf else repeated.again(data)
        if body is None:
            return False
        self.phase = BUSY
        cycle = Cycle(repeated.scope, self.transport, self.flow, self.usual, self)
        cycle.more_body, cycle.whole = False, body
        self.line.append(cycle)
        if self._at_once is not None:
            cycle.express = self._at_once(repeated.kept, body, cycle)
        if cycle.express is None:
            cycle.carry_on(self.app)
        return True

    def on_message_begin(self) -> None:
        self.begun()
        self.url = b""
        self.expects_continue = False
        self.headers = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase != HEAD:
            return  # Trailers come this way too, and are dropped.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expects_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.checked()
        parser = self.parser
        version = parser.get_http_version()
        scope = self._scope(version)
        is_one_piece = self._fresh and self._fed == len(self._piece)
        self._repeated = repeated(self._piece, self.headers, scope) if is_one_piece else None
        if self._repeated is not None:
            scope[REPEATED_HEAD] = self._repeated.kept
        cycle = Cycle(
            lambda: scope,
            self.transport,
            self.flow,
            self.usual,
            self,
            expects_continue=self.expects_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
            is_head=scope["method"] == "HEAD",
        )
        cycle.takes_chunks = version != "1.0"
        self.line.append(cycle)
        if len(self.line) == 1:
            self.start(cycle.run(self.app))
        elif len(self.line) > AHEAD:
            self.flow.pause_reading()

    def _scope(self, version: str) -> dict[str, Any]:
        raw, _, query = (self.url if self.url[:1] == b"/" else path_of(self.url)).partition(b"?")
        path = raw.decode("ascii")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": self.parser.get_method().decode("ascii"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw,
            "query_string": query,
            "headers": self.headers,
            "state": {},
        }

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        tasks = self.door.tasks
        task.add_done_callback(tasks.discard)
        tasks.add(task)

    def on_body(self, body: bytes) -> None:
        if self.line:
            self.line[-1].take(body)

    def on_message_complete(self) -> None:
        self.completed()
        if self.line:
            self.line[-1].complete()

    def passed(self, data: bytes) -> None:
        if self.deaf and self.line:
            self.line[-1].keep_alive = False

    def on_response_complete(self) -> None:
        if self.transport.is_closing():
            return
        line, flow = self.line, self.flow
        line.popleft()
        if flow.read_paused:
            flow.resume_reading()
        if line:
            self.start(line[0].run(self.app))
        else:
            self.answered()

    def look(self, now: float) -> None:
        if self.flow.silence(now) > self.door.limits.body_silence:
            self.transport.abort()
        else:
            super().look(now)

    def shut(self) -> None:
        self._release()
        self.app, self._at_once = stopping, None
        for cycle in self.line:
            if cycle.express is not None:
                cycle.express.go_on()  # A task can be waited for, and told to come to its end.
        if self.line:
            self.line[-1].keep_alive = False
        super().shut()


def _address(found: Any) -> tuple[str, int] | None:
    """Host and port, where a socket has them."""
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) else None
