"""A streamed answer: each chunk is translated and sent in the callback that brings it."""

import asyncio

from ...contracts.asgi import DirectWriter
from ..client_response import EARLY_AFTER, stream_headers
from ..direct_stream import DirectStream
from ..pipeline import keep_alive_interval
from ..request_run import RequestRun
from .driver import Driver


class StreamDriver(Driver):
    """Sends until a client is slow, a vendor is silent for too long, or something fails."""

    __slots__ = ("_pieces", "_stream", "_timer")

    def __init__(self, run: RequestRun, writer: DirectWriter) -> None:
        Driver.__init__(self, run, writer)
        self._stream: DirectStream | None = None
        """Set once the client has the head."""
        self._timer: asyncio.TimerHandle | None = None
        """Runs where the client's format has something to send into a silence."""
        self._pieces = 0
        """How many were sent since it was set."""
        if run.head.route.wire.keep_alive is not None:
            self._timer = asyncio.get_running_loop().call_later(EARLY_AFTER, self._on_silence)

    def on_client_gone(self) -> None:
        self._stop()
        Driver.on_client_gone(self)

    def set_result(self, result: None, /) -> None:
        try:
            if self._stream is None:
                self._start()
            else:
                self._continue(self._stream)
        except BaseException as error:  # No task is cancelled here: this is the vendor or a plugin.
            self.set_exception(error)

    def _start(self) -> None:
        """Nothing was part of an answer so far; what has arrived now may be."""
        run, attempt, answer = self._run, self._attempt, self._answer
        if answer.failure is not None or answer.status // 100 != 2 or answer.is_coded:
            self.hand_over()  # It is no answer, so somebody else may be asked; or is compressed.
            return
        if not attempt.read_start(answer.take(), is_last=answer.source is None):
            self._listen()
            return
        self._on_answer()
        is_last, exchange = attempt.is_complete, attempt.exchange
        if exchange.failure is not None:
            self.hand_over()
            return
        if is_last or exchange.ended:
            run.close()
        headers = stream_headers(run.response_headers(), run.record.request_id.encode())
        if not self._writer.open(headers, attempt.pending, is_last=is_last):
            self.hand_over()
            return
        attempt.pending, run.is_open = b"", True
        if is_last:
            self._finish()
            return
        push = self._writer.push if self._timer is None else self._push
        self._stream = DirectStream(attempt, push)
        self._watch_silence()
        self._listen(self._stream)

    def _continue(self, stream: DirectStream) -> None:
        """The direct stream has stopped: at the end, for a slow client, or at a failure."""
        run, attempt, answer = self._run, self._attempt, self._answer
        exchange = attempt.exchange
        if exchange.failure is not None or answer.failure is not None:
            self.hand_over()
        elif answer.source is None:
            rest = answer.take()
            if rest:
                run.on_chunk(rest)
            if run.is_streaming:
                run.on_chunk(b"")
            if exchange.failure is None:
                run.close()
                if self._writer.end(attempt.pending):
                    self._finish()
                    return
            self.hand_over()
        elif exchange.ended and self._is_end_pushed():
            self._listen(stream)
        else:
            self.hand_over()

    def _is_end_pushed(self) -> bool:
        attempt = self._attempt
        self._run.close()
        if attempt.pending and not self._writer.push(attempt.pending):
            return False
        attempt.pending = b""
        return True

    def _listen(self, stream: DirectStream | None = None) -> None:
        sent = self._run.sent
        assert sent is not None
        sent.connection.follow(sent.answer, self, None if stream is None else stream.taker)

    # Silence.

    def _push(self, piece: bytes) -> bool:
        self._pieces += 1
        return self._writer.push(piece)

    def _watch_silence(self) -> None:
        """From one interval to the next something must be sent, in a format that wants that."""
        keep_alive = self._run.head.route.wire.keep_alive
        if keep_alive is None:
            return
        self._stop_timer()
        interval = keep_alive_interval(self._run.core, keep_alive)
        if keep_alive.throughout and interval > 0:
            self._pieces = 0
            self._timer = asyncio.get_running_loop().call_later(interval, self._look)

    def _look(self) -> None:
        if self._pieces:
            self._watch_silence()
        else:
            self._on_silence()

    def _on_silence(self) -> None:
        """A task sends the frames that keep the client waiting."""
        self._run.is_late = True
        self.hand_over()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # The end on this path.

    def _stop(self) -> None:
        self._stop_timer()
        self._stream = None  # It holds this object, as this object holds it.

    def _finish(self) -> None:
        self._stop()
        self._run.finish()

    def hand_over(self) -> None:
        self._stop()
        Driver.hand_over(self)
