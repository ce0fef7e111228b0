"""One answer on its way from its vendor through the filters to its client."""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import (
    Choice,
    GatewayError,
    Refusal,
    StopAnswer,
    StreamEvent,
    Text,
    TransportError,
)
from gateway_core.pipeline.client_response import ClientResponse
from gateway_core.pipeline.request_run import RequestRun

from .exchange import FilteredExchange
from .window import Window


class Answer:
    """The answer of the attempt that answers. Its filters run one behind the other."""

    def __init__(self, run: RequestRun, exchange: FilteredExchange) -> None:
        self._run, self._exchange = run, exchange
        self._windows = [Window(check) for check in exchange.checks]
        self._is_over = False

    async def begin(self) -> None:
        """Filter until the client can have something, or all of an answer that is not streamed.

        Raises the GatewayError with which a filter refuses it.
        """
        if not self._run.call.stream:
            await self._filter_reply()
            return
        await self._filter_events()
        while not self._is_over and not self._run.attempt.pending:
            await self._read()

    async def stream(self, client: ClientResponse) -> None:
        """Send the rest of a stream, up to what the run holds back for its end."""
        while not self._is_over:
            await self._read()
            await client.write(self._run.take_output())

    async def _read(self) -> None:
        run, response = self._run, self._run.attempt.response
        assert response is not None
        try:
            run.on_chunk(await response.next())
        except TransportError as error:
            run.on_error(error)
        await self._filter_events()

    async def _filter_reply(self) -> None:
        exchange, reply = self._exchange, self._exchange.reply
        assert reply is not None
        for check in exchange.checks:
            try:
                reply = await check.reply(reply)
            except StopAnswer as stop:
                part = Refusal if stop.finish == "refusal" else Text
                parts = (part(text=stop.text),) if stop.text else ()
                choices = (Choice(parts=parts, finish=stop.finish),)
                reply = replace(reply, choices=choices)
                self._note_stop(check.plugin)
                break
        self._run.attempt.pending = exchange.write_reply(reply)

    async def _filter_events(self) -> None:
        """Put what the filters let go into what the client may have."""
        attempt, exchange, is_last = self._run.attempt, self._exchange, not self._run.is_streaming
        events: Sequence[StreamEvent] = exchange.take()
        for check, window in zip(exchange.checks, self._windows, strict=True):
            try:
                events = await window.move(events, is_last=is_last)
            except StopAnswer as stop:
                over = attempt.is_complete
                attempt.pending += exchange.stop(stop.text, stop.finish, is_over=over)
                self._note_stop(check.plugin)
                return
            except GatewayError as error:
                if not exchange.is_begun:
                    raise
                attempt.pending += exchange.break_off(error)
                self._run.record.failed(error)
                self._is_over = True
                return
        attempt.pending += exchange.write(events)
        if is_last:
            attempt.pending += exchange.end() if exchange.failure is None else b""
            self._is_over = True

    def _note_stop(self, plugin: str) -> None:
        record = self._run.record
        record.error, record.error_code = f"A filter of {plugin} ended the answer", "answer_stopped"
        self._is_over = True
