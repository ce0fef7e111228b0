"""A stream without a task: its head goes out with the first bytes that mean something."""

import asyncio
from functools import partial

from ...contracts.asgi import DirectWriter
from ...contracts.exchange import UpstreamResponse
from ..client_response import EARLY_AFTER, stream_headers
from ..context import Core
from ..direct_stream import DirectStream
from ..dispatch import UNMEANT_LIMIT, Answer, Opened
from ..pipeline import Underway, answer_headers, beat_of
from .attempt import Asked, Attempt


class Streaming(Attempt):
    """Gives bytes on as they come. A task goes on where a client is slow, a vendor is silent for
    too long, or something fails."""

    __slots__ = ("_flow", "_given", "_pieces", "_taken", "_timer")

    def __init__(self, core: Core, asked: Asked, outlet: DirectWriter) -> None:
        Attempt.__init__(self, core, asked, outlet)
        self._flow: DirectStream | None = None
        """There is one once the client has the head."""
        self._given, self._taken = b"", 0
        """For the client, and what it was made of, while nothing of it has a meaning."""
        self._timer: asyncio.TimerHandle | None = None
        """Rings where the client's format has something to send into a silence."""
        self._pieces = 0
        """How many were sent since it was set."""
        if asked.arrival.route.wire.keep_alive is not None:
            self._timer = asyncio.get_running_loop().call_later(EARLY_AFTER, self._be_late)

    def go_on(self) -> None:
        self._go_on(is_late=False)

    def leave(self) -> None:
        self._rest()
        self._flow = None
        super().leave()

    def set_exception(self, error: BaseException, /) -> None:
        if self._record.attempts:
            self._leave_rest(b"", error=error)
        else:
            self._rest()
            asked = self._asked
            failing = partial(_failing, asked.sent.answer, error)
            self._hand_over(Opened(asked.account, asked.exchange, failing))

    def set_result(self, result: None, /) -> None:
        try:
            if self._flow is None:
                self._begin()
            else:
                self._continue(self._flow)
        except BaseException as error:  # No task is told to end here: this is what a plugin does.
            self.set_exception(error)

    # The beginning.

    def _begin(self) -> None:
        """Nothing has a meaning yet; maybe what has come now has."""
        exchange, answer = self._asked.exchange, self._asked.sent.answer
        if answer.failure is not None or answer.status // 100 != 2:
            self.go_on()
            return
        chunk = answer.take()
        if chunk:
            self._taken += len(chunk)
            self._given += exchange.feed(chunk)
        if exchange.started:
            self._open()
        elif exchange.failure is not None:
            self.set_exception(exchange.failure)
        elif answer.source is None or self._taken > UNMEANT_LIMIT:
            self.go_on()
        else:
            self._listen()

    def _open(self) -> None:
        """Give the client the head, and what there is of the body."""
        exchange, answer = self._asked.exchange, self._asked.sent.answer
        given, self._given = self._given, b""
        is_over = answer.source is None and exchange.failure is None
        if is_over:
            given += exchange.close()
        self._answers()
        headers = answer_headers(exchange, answer)
        told = stream_headers(headers, self._record.request_id.encode())
        is_held = self._record.is_counted and (is_over or exchange.ended)
        is_for_a_task = is_held or exchange.failure is not None
        if is_for_a_task or not self._outlet.open(told, given, is_last=is_over):
            self._leave_rest(given, is_over=is_over)
        elif is_over:
            self._done()
        else:
            self._flow = DirectStream(
                exchange, self._outlet.push if self._timer is None else self._push
            )
            self._watch_silence()
            self._listen(self._flow)

    # The rest.

    def _continue(self, flow: DirectStream) -> None:
        """The flow has stopped: at the end, for a slow client, or because something failed."""
        exchange, answer = self._asked.exchange, self._asked.sent.answer
        kept = flow.kept()
        if exchange.failure is not None or answer.failure is not None:
            self._leave_rest(kept)
        elif self._record.is_counted:
            self._leave_rest(kept)  # Its end waits until its row is written.
        elif answer.source is None:
            self._end(kept)
        elif exchange.ended and (not kept or self._outlet.push(kept)):
            self._listen(flow)
        else:
            self._leave_rest(kept)

    def _end(self, last: bytes) -> None:
        """The vendor has said all of it."""
        exchange, rest = self._asked.exchange, self._asked.sent.answer.take()
        if rest:
            last += exchange.feed(rest)
        is_over = exchange.failure is None
        if is_over:
            last += exchange.close()
        if exchange.failure is None and self._outlet.end(last):
            self._done()
        else:
            self._leave_rest(last, is_over=is_over)

    def _done(self) -> None:
        self._rest()
        self._flow = None  # It holds this object, as this object holds it.
        self._finish(is_over=True)

    def _listen(self, flow: DirectStream | None = None) -> None:
        sent = self._asked.sent
        sent.connection.follow(sent.answer, self, None if flow is None else flow.taker)

    # Silence.

    def _push(self, piece: bytes) -> bool:
        self._pieces += 1
        return self._outlet.push(piece)

    def _watch_silence(self) -> None:
        """From one beat to the next something must be sent, in a format that wants that."""
        keep_alive = self._asked.arrival.route.wire.keep_alive
        if keep_alive is None:
            return
        self._rest()
        beat = beat_of(self._core, keep_alive)
        if keep_alive.throughout and beat > 0:
            self._pieces = 0
            self._timer = asyncio.get_running_loop().call_later(beat, self._look)

    def _look(self) -> None:
        if self._pieces:
            self._watch_silence()
        else:
            self._be_late()

    def _be_late(self) -> None:
        self._go_on(is_late=True)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What is left to a task.

    def _go_on(self, *, is_late: bool) -> None:
        asked = self._asked
        if self._flow is not None:
            self._leave_rest(b"", is_late=is_late)
            return
        self._rest()
        at = Opened(asked.account, asked.exchange, self._answering, self._given, self._taken)
        self._hand_over(at, is_late=is_late)

    def _leave_rest(
        self,
        given: bytes,
        *,
        is_over: bool = False,
        is_late: bool = False,
        error: BaseException | None = None,
    ) -> None:
        """To a task, once the answer means something; ``given`` is still to be sent."""
        self._rest()
        asked = self._asked
        answer = Answer(
            asked.member, asked.account, asked.exchange, asked.sent.answer, given, is_over
        )
        at = Underway(answer, is_open=self._flow is not None, error=error)
        self._flow = None
        self._hand_over(at, is_late=is_late)


async def _failing(response: UpstreamResponse, error: BaseException) -> UpstreamResponse:
    """An attempt that has failed already. Raises ``error``."""
    await response.aclose()
    raise error
