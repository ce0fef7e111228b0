"""An answer that is not streamed: sent in the callback in which its last byte arrives."""

from typing import cast

from ...contracts.exchange import ServiceExchange
from ..client_response import whole_lines
from .driver import Driver


class WholeDriver(Driver):
    """Waits for the whole answer."""

    __slots__ = ()

    def set_result(self, result: None, /) -> None:
        answer, run, attempt = self._answer, self._run, self._attempt
        is_whole = answer.source is None and answer.failure is None and not answer.is_coded
        if not is_whole or answer.status // 100 != 2:
            self.hand_over()  # It is no answer, so somebody else may be asked; or is compressed.
            return
        try:
            attempt.read_whole(answer.take())
            self._on_answer()
            headers = run.response_headers()
            run.close()
        except BaseException as error:  # No task is cancelled here: this is the vendor or a plugin.
            self.set_exception(error)
            return
        body = attempt.pending
        try:
            ready = whole_lines(body, run.record.request_id, run.head.is_shared)
            is_sent = self._writer.reply(200, headers, body, ready)
        except RuntimeError:  # A header that cannot be sent; the pipeline reports it.
            is_sent = False
        if is_sent:
            run.finish()
        else:
            self.hand_over()


class ServiceDriver(WholeDriver):
    """The same for the exchange of a service, which also wants to see the head."""

    __slots__ = ()

    def set_result(self, result: None, /) -> None:
        answer, exchange = self._answer, cast(ServiceExchange, self._attempt.exchange)
        if answer.source is None and answer.status // 100 == 2:
            try:
                exchange.read_head(answer.headers)
            except BaseException as error:  # As in ``WholeDriver``.
                self.set_exception(error)
                return
        WholeDriver.set_result(self, result)
