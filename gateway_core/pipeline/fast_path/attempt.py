"""One request on its way without a task, and how a task takes it over."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from functools import partial

from msgspec import Struct

from ...contracts.asgi import DirectWriter, Receive, Scope, Send
from ...contracts.errors import GatewayError
from ...contracts.exchange import Exchange
from ...metering.accounting import account
from ...routing.account_selection import session_of
from ...routing.model_resolver import MAX_NAME
from ...routing.plan import Member
from ...routing.snapshot import Account, ConfigSnapshot
from ...upstream.transport import SentRequest, UpstreamAnswer
from ..context import Core
from ..dispatch import Opened
from ..pipeline import Started, Underway, begun, ended, infer
from ..request_head import RequestHead
from ..translation import Translation

log = logging.getLogger(__name__)


class Asked(Struct, frozen=True):
    """One request, and the vendor that is asked."""

    arrival: RequestHead
    snapshot: ConfigSnapshot
    question: Translation
    member: Member
    account: Account
    exchange: Exchange
    sent: SentRequest


class Attempt(ABC):
    """The connection to the vendor tells it when something has come: it is that answer's waiter."""

    __slots__ = ("_asked", "_core", "_outlet", "_record")

    def __init__(self, core: Core, asked: Asked, outlet: DirectWriter) -> None:
        self._core, self._asked, self._outlet = core, asked, outlet
        call = asked.question.call
        record = self._record = begun(core, asked.arrival, asked.question.now)
        record.model, record.stream = call.model[:MAX_NAME], call.stream
        if record.key is not None and record.key.has_limits:
            record.is_counted = True
        record.target, record.connection_id = asked.member.target, asked.account.id
        asked.sent.answer.waiter = self

    # What the server tells.

    def leave(self) -> None:
        """The client has gone."""
        answer, record = self._asked.sent.answer, self._record
        answer.waiter = answer.taker = None
        if answer.source is not None:
            answer.source.drop(answer)
        record.status, record.http_status = "client_gone", 499
        if record.attempts:
            self._finish(is_over=False)
        else:
            record.attempts = 1
            self._note_turn()
            ended(self._core, record)

    @abstractmethod
    def go_on(self) -> None:
        """Leave the rest to a task, which takes this attempt over as it is."""

    # What the answer tells: this is its waiter.

    def done(self) -> bool:
        return False

    @abstractmethod
    def set_result(self, result: None, /) -> None:
        """Something has come, or nothing more will."""

    @abstractmethod
    def set_exception(self, error: BaseException, /) -> None:
        """What was to take the next bytes has failed."""

    # What both kinds of answers have in common.

    def _answers(self) -> None:
        """The vendor's answer means something."""
        asked, core = self._asked, self._core
        core.cooldowns.record_success(asked.account.id, asked.member.target.model.id)
        self._note_turn()
        self._record.attempts, self._record.first_byte = 1, time.monotonic()

    def _finish(self, *, is_over: bool) -> None:
        """The request has ended; ``is_over`` when its vendor has said all of the answer."""
        asked, record = self._asked, self._record
        try:
            if not record.is_recorded:
                account(asked.question.call, asked.exchange, record, is_over=is_over)
        except BaseException:
            log.exception("request %s failed", record.request_id)
            record.failed(GatewayError("Request failed"))
        ended(self._core, record)

    def _note_turn(self) -> None:
        asked = self._asked
        session = session_of(asked.question.call)
        self._core.round_robin.used(asked.account.provider, asked.account.id, session)

    def _hand_over(self, at: Opened | Underway, *, is_late: bool = False) -> None:
        """Leave the rest to a task."""
        answer = self._asked.sent.answer
        answer.waiter = answer.taker = None
        self._outlet.carry_on(partial(self._resumed, at, is_late))

    def _answering(self) -> Awaitable[UpstreamAnswer]:
        """The head of the answer, which may have come. Raises TransportError."""
        return self._core.network.direct.finish(self._asked.sent)

    async def _resumed(
        self, at: Opened | Underway, is_late: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        asked = self._asked
        started = Started(asked.snapshot, asked.question, self._record, at, is_late)
        await infer(self._core, asked.arrival, scope, receive, send, started)
