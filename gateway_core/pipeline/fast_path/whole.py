"""A whole answer without a task: given to the client in the moment in which it is complete."""

import asyncio
import time

from ...contracts.asgi import DirectWriter, Header
from ...metering.accounting import account
from ...upstream.transport import UpstreamAnswer as Arriving
from ..client_response import whole_lines
from ..context import Core
from ..dispatch import Answer, Opened
from ..pipeline import Underway, answer_headers, ended
from .attempt import Asked, Attempt

Told = tuple[tuple[Header, ...], bytes, bytes]
"""Its own headers, the body, and the headers that every whole answer has, ready to be sent."""


class Whole(Attempt):
    """Waits for all of the answer; that of a limited key waits until its row is written."""

    __slots__ = ("_told", "_written")

    def __init__(self, core: Core, asked: Asked, outlet: DirectWriter) -> None:
        Attempt.__init__(self, core, asked, outlet)
        self._written: asyncio.Future[None] | None = None
        """There is one while the client's answer waits for it."""

    def go_on(self) -> None:
        if self._written is not None:
            self._leave_told(self._written)
        else:
            self._leave_all(again=False)

    def leave(self) -> None:
        self._written = None
        super().leave()

    def set_exception(self, error: BaseException, /) -> None:
        self.go_on()

    def set_result(self, result: None, /) -> None:
        answer = self._asked.sent.answer
        if answer.source is not None or answer.failure is not None or answer.status // 100 != 2:
            self.go_on()
            return
        try:
            told = self._read(answer)
            is_done = told is not None and self._is_given(answer, told)
        except BaseException:  # No task is told to end here, so this is what a plugin does.
            is_done = False
        if not is_done:
            self._leave_all(again=True)

    def _read(self, answer: Arriving) -> Told | None:
        """What the client gets; ``None`` when the vendor's answer, which is kept, makes no
        sense."""
        exchange = self._asked.exchange
        given = exchange.feed(b"".join(answer.chunks)) + exchange.close()
        if exchange.failure is not None or type(given) is not bytes:
            return None
        return answer_headers(exchange, answer), given, whole_lines(given, self._record.request_id)

    def _is_given(self, answer: Arriving, told: Told) -> bool:
        """Whether the client has its answer now, or will have it once its row is written."""
        if self._record.is_counted:
            self._write_row(told)
        elif not self._outlet.reply(200, told[0], told[1], told[2]):
            return False
        else:
            self._answers()
            self._finish(is_over=True)
        answer.chunks.clear()
        return True

    def _write_row(self, told: Told) -> None:
        core, asked, record = self._core, self._asked, self._record
        account(asked.question.call, asked.exchange, record, is_over=True)
        self._answers()
        self._told, record.over = told, time.monotonic()
        self._written = core.ledger.enqueue_commit(record)
        if self._written is None:
            self._tell(None)
        else:
            self._written.add_done_callback(self._tell)

    def _tell(self, written: "asyncio.Future[None] | None") -> None:
        """The row is written, as far as that is possible."""
        if written is not self._written:
            return  # The client has left, or a task is to tell it.
        self._written = None
        try:
            is_told = self._outlet.reply(200, *self._told)
        except RuntimeError:  # Nobody hears it here; a task says what is wrong.
            is_told = False
        if is_told:
            ended(self._core, self._record)
        else:
            self._leave_told(None)

    def _leave_told(self, written: "asyncio.Future[None] | None") -> None:
        asked, self._written = self._asked, None
        answer = Answer(
            asked.member, asked.account, asked.exchange, asked.sent.answer, self._told[1], True
        )
        self._hand_over(Underway(answer, is_open=False, written=written))

    def _leave_all(self, *, again: bool) -> None:
        """To a task, which reads the answer, with a new exchange when that is the second time."""
        asked = self._asked
        exchange = None if again else asked.exchange
        self._hand_over(Opened(asked.account, exchange, self._answering))
