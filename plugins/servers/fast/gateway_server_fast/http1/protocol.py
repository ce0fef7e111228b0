"""The HTTP/1.1 side of every client's connection: requests in, responses out, in turn."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, cast
from urllib.parse import unquote

import httptools

from gateway_core import REPEATED_HEAD

from ..connections import App, ConnectionManager, stopping
from .connection import BODY, BUSY, HEAD, IDLE, ClientConnection
from .extensions import BeginDirectly
from .flow_control import FlowControl
from .repeated_head import MAX_HELD_BODY, RepeatableHead, find_repeatable
from .request_cycle import RequestCycle
from .request_head import RefusedRequest, origin_form
from .response_head import CommonHeaders

PIPELINE_LIMIT = 3
"""Requests of a connection that are parsed and not answered, the running one among them. Further
bytes are kept unparsed, and reading is paused: nobody notices then if the client leaves."""
ASGI = {"version": "3.0", "spec_version": "2.3"}


class Http1Protocol(ClientConnection, asyncio.Protocol):
    """One connection. The first of its requests is being answered: RFC 9112, section 9.3.2."""

    def __init__(self, app: App, manager: ConnectionManager, common_headers: CommonHeaders) -> None:
        super().__init__(manager)
        self.app = stopping if manager.closing else app
        self.common_headers = common_headers
        self.loop = asyncio.get_running_loop()
        self.parser = httptools.HttpRequestParser(self)
        # A client may say that it closes, and have pipelined a request before.
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.server: tuple[str, int] | None = None
        self.client: tuple[str, int] | None = None
        self.scheme = "http"
        self.url, self.headers = b"", []
        self.expects_continue = False
        self.cycles: deque[RequestCycle] = deque()
        """Requests without a complete response; the last one may be incomplete itself."""
        self._repeated: RepeatableHead | None = None
        self._held = b""
        """A request with the same head as before, while its body is incomplete."""
        self._begin_directly: BeginDirectly | None = getattr(self.app, "begin_directly", None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.flow = FlowControl(cast(asyncio.Transport, transport))
        if self.admit(transport):
            self.server = _address(transport.get_extra_info("sockname"))
            self.client = _address(transport.get_extra_info("peername"))
            if transport.get_extra_info("sslcontext"):
                self.scheme = "https"

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        self.deregister()
        for cycle in self.cycles:
            cycle.on_client_gone()
        self.cycles.clear()
        self.flow.resume_writing()
        self.parser = None  # It refers to this object: without a cycle, memory is freed at once.

    def pause_writing(self) -> None:
        self.flow.pause_writing()

    def resume_writing(self) -> None:
        self.flow.resume_writing()

    def is_behind(self) -> bool:
        return bool(self.cycles)

    def may_refuse(self) -> bool:
        if not self.cycles:
            return True
        if self.phase != BODY or len(self.cycles) > 1 or self.cycles[0].response_started:
            return False
        self.cycles[0].on_client_gone()
        return True

    def data_received(self, data: bytes) -> None:
        repeated = self._repeated
        if repeated is not None and (self.phase == IDLE or self._held):
            held, self._held = self._held, b""
            if self._serve_repeated(repeated, held + data):
                return
            if 0 < repeated.missing <= MAX_HELD_BODY and not self.input_closed:
                # The rest of the body has the limits of any body.
                if not held:
                    self.phase, self.mark, self._recent = BODY, self.manager.now, 0
                self.count_body(len(data))
                self._held = held + data
                return
            self.phase, data = IDLE, held + data
        ClientConnection.data_received(self, data)

    def _release(self) -> None:
        """Parse a request whose body is no longer waited for here."""
        held, self._held = self._held, b""
        if held:
            self.phase = IDLE
            ClientConnection.data_received(self, held)

    def refuse(self, refused: RefusedRequest) -> None:
        self._release()
        super().refuse(refused)

    def _serve_repeated(self, repeated: RepeatableHead, data: bytes) -> bool:
        """Serve a request with the same head as before, if ``data`` is that and nothing else."""
        body = None if self.input_closed else repeated.match(data)
        if body is None:
            return False
        self.phase = BUSY
        cycle = RequestCycle(repeated.scope, self.transport, self.flow, self.common_headers, self)
        cycle.more_body, cycle.whole = False, body
        cycle.keep_alive = not self.manager.is_retired
        self.cycles.append(cycle)
        if self._begin_directly is not None:
            cycle.direct = self._begin_directly(repeated.head, body, cycle)
        if cycle.direct is None:
            cycle.run_in_task(self.app)
        return True

    def on_message_begin(self) -> None:
        self.begin_head()
        self.url = b""
        self.expects_continue = False
        self.headers = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase != HEAD:
            return  # A trailer: RFC 9110, section 6.5.1, allows to discard them.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expects_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.begin_body()
        parser = self.parser
        version = parser.get_http_version()
        scope = self._scope(version)
        is_whole = self._head_size == len(self._piece)
        repeated = find_repeatable(self._piece, self.headers, scope) if is_whole else None
        self._repeated = repeated
        if repeated is not None:
            scope[REPEATED_HEAD] = repeated.head
        cycle = RequestCycle(
            lambda: scope,
            self.transport,
            self.flow,
            self.common_headers,
            self,
            expects_continue=self.expects_continue,
            keep_alive=version != "1.0"
            and parser.should_keep_alive()
            and not self.manager.is_retired,
            is_head=scope["method"] == "HEAD",
        )
        cycle.takes_chunks = version != "1.0"
        self.cycles.append(cycle)
        if len(self.cycles) == 1:
            self.start(cycle.run(self.app))

    def _scope(self, version: str) -> dict[str, Any]:
        raw, _, query = (self.url if self.url[:1] == b"/" else origin_form(self.url)).partition(
            b"?"
        )
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

    def open_socket(self, rest: bytes) -> None:
        if self.cycles:  # RFC 9110, section 7.8: the responses before it come first.
            raise RefusedRequest(400, "A WebSocket handshake cannot be pipelined")
        if self.manager.closing:
            raise RefusedRequest(503, "The gateway is stopping")
        # Imported only here, because most processes never serve one.
        from ..websocket.http1 import SocketConnection

        version = self.parser.get_http_version()
        connection = SocketConnection(self, self._scope(version))
        self.deregister()
        self.parser = None  # As when the connection is lost: this object is not needed any more.
        connection.take_over(rest)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        tasks = self.manager.tasks
        task.add_done_callback(tasks.discard)
        tasks.add(task)

    def on_body(self, body: bytes) -> None:
        if self.cycles:
            self.cycles[-1].take(body)

    def on_message_complete(self) -> None:
        self.end_request()
        if self.cycles:
            self.cycles[-1].complete()

    def is_pipeline_full(self) -> bool:
        return len(self.cycles) >= PIPELINE_LIMIT

    def end_after_last_request(self) -> None:
        if self.cycles:
            self.cycles[-1].keep_alive = False

    def on_response_complete(self) -> None:
        if self.transport.is_closing():
            return
        cycles, flow = self.cycles, self.flow
        cycles.popleft()
        if flow.read_paused:
            flow.resume_reading()
        if cycles:
            self.start(cycles[0].run(self.app))
        else:
            self.end_response()
        if self._unparsed:
            self.parse_further()

    def on_tick(self, now: float) -> None:
        if self.flow.stalled_for(now) > self.manager.limits.body_silence:
            self.transport.abort()
        else:
            super().on_tick(now)

    def start_drain(self) -> None:
        self._release()
        self.app, self._begin_directly = stopping, None
        for cycle in self.cycles:
            if cycle.direct is not None:
                cycle.direct.hand_over()  # The stop waits for tasks, and cancels them in the end.
        self.end_after_last_request()
        super().start_drain()


def _address(name: Any) -> tuple[str, int] | None:
    """Host and port; a Unix socket has none."""
    return (str(name[0]), int(name[1])) if isinstance(name, tuple) else None
