"""An answer that is not streamed: sent in the callback in which its last byte arrives."""

import asyncio

from ...contracts.asgi import DirectWriter, Header
from ..client_response import whole_lines
from ..request_run import RequestRun
from .driver import Driver


class WholeDriver(Driver):
    """Waits for the whole answer; that of a limited key then waits for its row."""

    __slots__ = ("_headers", "_written")

    def __init__(self, run: RequestRun, writer: DirectWriter) -> None:
        Driver.__init__(self, run, writer)
        self._headers: tuple[Header, ...] = ()
        self._written: asyncio.Future[None] | None = None
        """Set while the answer waits for its row."""

    def go_on(self) -> None:
        self._written = None
        self._hand_over()

    def leave(self) -> None:
        self._written = None
        Driver.leave(self)

    def set_result(self, result: None, /) -> None:
        answer, run = self._answer, self._run
        if answer.source is not None or answer.failure is not None or answer.status // 100 != 2:
            self._hand_over()  # It is no answer, so somebody else may be asked.
            return
        if answer.is_coded:
            self._hand_over()  # A task decodes it.
            return
        try:
            self._attempt.read_whole(answer.take())
            self._on_answer()
            self._headers = run.response_headers()
            written = run.close()
        except BaseException as error:  # No task is cancelled here: this is the vendor or a plugin.
            self.set_exception(error)
            return
        if written is None:
            self._send()
        else:
            self._written = written
            written.add_done_callback(self._on_written)

    def _on_written(self, written: "asyncio.Future[None]") -> None:
        # Otherwise the client has left meanwhile, or a task answers it.
        if written is self._written:
            self._written = None
            self._send()

    def _send(self) -> None:
        run, body = self._run, self._attempt.pending
        try:
            ready = whole_lines(body, run.record.request_id)
            is_sent = self._writer.reply(200, self._headers, body, ready)
        except RuntimeError:  # A header that cannot be sent; the pipeline reports it.
            is_sent = False
        if is_sent:
            run.finish()
        else:
            self._hand_over()
