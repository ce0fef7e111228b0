"""A streamed answer: each chunk is translated and sent in the callback that brings it."""

from ...contracts.asgi import DirectWriter
from ..client_response import EARLY_AFTER, stream_headers
from ..direct_stream import DirectStream
from ..pipeline import keep_alive_interval
from ..request_run import RequestRun
from ..silence import LOOKS, SilenceWatch
from .driver import Driver


class StreamDriver(Driver):
    """Sends until a client is slow, a vendor is silent for too long, or something fails."""

    __slots__ = ("_interval", "_silence", "_stream")

    def __init__(self, run: RequestRun, writer: DirectWriter) -> None:
        Driver.__init__(self, run, writer)
        self._stream: DirectStream | None = None
        """Set once the client has the head."""
        self._silence: SilenceWatch | None = None
        """There is one where the client is to be sent something into a silence."""
        keep_alive = run.keep_alive
        self._interval = 0.0
        """Seconds of silence in a stream that is open until its client is sent something."""
        if keep_alive is not None:
            interval = keep_alive_interval(run.core, keep_alive)
            if keep_alive.throughout:
                self._interval = interval
            step = interval / LOOKS or EARLY_AFTER
            self._silence = SilenceWatch(writer.has_pushed, self._on_silence, EARLY_AFTER, step)

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
        request_id = run.record.request_id.encode()
        headers = stream_headers(run.response_headers(), request_id, run.head.is_shared)
        if not self._writer.open(headers, attempt.pending, is_last=is_last):
            self.hand_over()
            return
        attempt.pending, run.is_open = b"", True
        if is_last:
            self._finish()
            return
        self._stream = DirectStream(attempt, self._writer.push)
        self._expect_silence()
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

    def _expect_silence(self) -> None:
        """The stream is open: from now on the silences between its pieces count."""
        if self._silence is not None and self._interval > 0:
            self._silence.longest = self._interval
        else:
            self._stop_watch()

    def _on_silence(self) -> None:
        """A task sends the frames that keep the client waiting."""
        self._run.is_late = True
        self.hand_over()

    def _stop_watch(self) -> None:
        if self._silence is not None:
            self._silence.stop()
            self._silence = None

    # The end on this path.

    def _stop(self) -> None:
        self._stop_watch()
        self._stream = None  # It holds this object, as this object holds it.

    def _finish(self) -> None:
        self._stop()
        self._run.finish()

    def hand_over(self) -> None:
        self._stop()
        Driver.hand_over(self)
