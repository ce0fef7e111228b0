"""A whole answer without a task: given to the client in the moment in which it is complete."""

from ..client import whole_headers
from ..dispatch import Opened
from ..pipeline import answer_headers
from ..transport import Answer
from .attempt import Attempt


class Whole(Attempt):
    """Waits for all of the answer."""

    __slots__ = ()

    def go_on(self) -> None:
        asked = self._asked
        self._hand_over(Opened(asked.account, asked.exchange, self._answering))

    def set_exception(self, error: BaseException, /) -> None:
        self.go_on()

    def set_result(self, result: None, /) -> None:
        answer = self._asked.sent.answer
        if answer.source is not None or answer.failure is not None or answer.status // 100 != 2:
            self.go_on()
        elif self._is_told(answer):
            answer.chunks.clear()
            self._answers()
            self._finish(is_over=True)
        else:  # The answer is whole, and is read once more.
            self._hand_over(Opened(self._asked.account, None, self._answering))

    def _is_told(self, answer: Answer) -> bool:
        """Whether the client has its answer now. It has nothing when the vendor's, which is
        kept, makes no sense, and when the client takes its time."""
        exchange = self._asked.exchange
        try:
            given = exchange.feed(b"".join(answer.chunks)) + exchange.close()
            if exchange.failure is not None or type(given) is not bytes:
                return False
            headers = answer_headers(exchange, answer)
            told = whole_headers(headers, given, self._trace.request_id.encode())
            return self._outlet.reply(200, told, given)
        except BaseException:  # No task is told to end here, so this is what a plugin does.
            return False
