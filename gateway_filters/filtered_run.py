"""One request whose answer filters see, or that a source may answer (``RunFiltering``)."""

import asyncio
import logging

from msgspec.structs import replace

from gateway_core import GatewayError, UpstreamRequest
from gateway_core.contracts.asgi import Header
from gateway_core.contracts.exchange import UpstreamResponse
from gateway_core.contracts.wire import Answered
from gateway_core.pipeline.attempt import Attempt
from gateway_core.pipeline.client_response import ClientResponse
from gateway_core.pipeline.exchanges import PassThrough, Translated
from gateway_core.pipeline.pipeline import pass_on
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.pipeline.send import send

from .answer import Answer
from .exchange import FilteredExchange
from .sourced import FollowedResponse, FreeExchange, GivenResponse, close_quietly
from .sources import AnswerSource, Question, SourcedAnswer

log = logging.getLogger(__name__)


class FilteredRun:
    """Asks the source before each attempt, and has filters see the answer of the last one."""

    def __init__(self, run: RequestRun, source: AnswerSource | None) -> None:
        self._run, self._source = run, source
        self._given: SourcedAnswer | None = None
        """What the source makes of the last attempt."""
        self._filtered: Answer | None = None
        self._delivery: asyncio.Task[None] | None = None
        self._is_passed = False
        """The answer goes to the client as it is, and nothing will refuse it any more."""

    async def send(self, attempt: Attempt, request: UpstreamRequest, /) -> UpstreamResponse:
        """The source's answer, or the vendor's. Raises as ``send`` does, and what the source
        refuses the request with."""
        given = self._given = await self._ask(attempt, request)
        if given is not None and given.body is not None:
            self._book(attempt)
            return GivenResponse(given.body)
        core, provider = self._run.core, attempt.member.target.provider
        try:
            response = await send(core, provider, attempt.account, request)
        except BaseException:
            close_quietly(given, is_whole=False)
            raise
        return (
            response if given is None else FollowedResponse(response, given, self._run, self.left)
        )

    async def begin(self) -> tuple[Header, ...]:
        """Filter until the client can have something."""
        run = self._run
        exchange, given = run.attempt.exchange, self._given
        if given is not None and given.body is not None:
            run.attempt.exchange = FreeExchange(exchange)
        if isinstance(exchange, FilteredExchange):
            self._filtered = Answer(run, exchange)
            await self._filtered.begin()
        if given is None:
            return run.response_headers()
        if not run.call.stream:
            await self._finish()
        self._is_passed = self._filtered is None
        own = ((name.encode(), value.encode()) for name, value in given.headers.items())
        return (*run.response_headers(), *own)

    async def stream(self, client: ClientResponse) -> None:
        """Send the rest of a stream, up to what the run holds back for its end."""
        await (
            pass_on(self._run, client) if self._filtered is None else self._filtered.stream(client)
        )
        await self._finish()

    async def left(self) -> None:
        """The client has gone, or has everything. Clients may go at the last event of a stream,
        before their connection has ended: that does not undo the answer."""
        if self._is_passed:
            await self._finish()

    async def _finish(self) -> None:
        if self._given is None:
            return
        if self._delivery is None:
            # What the answer is now counts: a client that goes before the task begins changes it.
            is_kept = self._is_kept()
            if is_kept:
                close_quietly(self._given, is_whole=True)
            self._delivery = asyncio.create_task(self._deliver(self._given, is_kept=is_kept))
        # A client that goes meanwhile ends neither this nor who waits for it.
        await asyncio.shield(self._delivery)

    async def _ask(self, attempt: Attempt, request: UpstreamRequest) -> SourcedAnswer | None:
        exchange, source = attempt.exchange, self._source
        if source is None or not isinstance(exchange, PassThrough | Translated):
            return None
        run, key = self._run, self._run.record.key
        try:
            question = Question(
                call=run.call,
                target=attempt.member.target,
                conversation=run.translation.conversation(),
                request=request,
                vendor=exchange.vendor,
                accounts=frozenset() if key is None else key.connections,
            )
        except (GatewayError, Answered):  # A vendor of its format may understand it.
            return None
        try:
            return await source.answer(question)
        except GatewayError:
            raise
        except Exception:
            log.exception("%s failed to answer", type(source).__name__)
            return None

    def _book(self, attempt: Attempt) -> None:
        """No vendor is asked, and what nobody was asked costs nothing."""
        record, target = self._run.record, attempt.member.target
        record.attempts -= 1
        record.connection_id = None
        record.target = replace(target, provider=replace(target.provider, free=True))

    def _is_kept(self) -> bool:
        run, exchange = self._run, self._run.attempt.exchange
        has_ended = run.attempt.is_complete or exchange.ended
        is_whole = has_ended and exchange.failure is None
        # A filter that has ended an answer has put a code into its row.
        return is_whole and run.record.status == "ok" and run.record.error_code is None

    async def _deliver(self, given: SourcedAnswer, *, is_kept: bool) -> None:
        if not is_kept:
            given.leave()
            return
        try:
            await given.deliver(self._run.attempt.exchange.usage)
        except Exception:
            log.exception("%s failed to take an answer", type(given).__name__)
