"""The express way of a whole answer: asked at once, answered in the moment it comes, no task.

```text
head seen before, body whole ──▶ begin ──▶ vendor ──▶ set_result ──▶ client, ledger
                                   │                     │
                  None: the usual way from the start     └──▶ go_on: a task from here on
```

What is decided, and how, is the pipeline's: this is the same way without its
waiting. Whatever is not as plain as can be, a vendor's refusal above all, is
left to the pipeline, which takes the attempt over as its first.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec import Struct

from ..contracts.errors import GatewayError
from ..contracts.exchange import Exchange
from ..identity.keys import Key
from .accounting import account
from .accounts import PIN, session_of
from .arrivals import Arrival
from .catalog import MAX_NAME
from .client import Receive, Reply, Scope, Send, whole_headers
from .core import Core
from .dispatch import Opened
from .pipeline import (
    Started,
    answer_headers,
    begun,
    call_of,
    ended,
    infer,
    permitted,
    planned,
)
from .plan import Member
from .policy import check_further
from .question import Question
from .tables import Account, Tables
from .transport import Answer as Arriving
from .transport import Begun

App = Callable[[Scope, Receive, Send], Awaitable[None]]
CarryOn = Callable[[App], None]
"""Has the rest of a request done by a task."""
_STREAM = b'"stream"'

log = logging.getLogger(__name__)


class Asked(Struct, frozen=True):
    """One request, and the vendor that is asked."""

    arrival: Arrival
    tables: Tables
    question: Question
    member: Member
    account: Account
    exchange: Exchange
    sent: Begun


class Only(Struct, frozen=True):
    """The one place where a key's calls of a model go, if there is but one."""

    key: Key | None
    found: tuple[Member, Account] | None


def begin(
    core: Core, arrival: Arrival, body: bytes, reply: Reply, carry_on: CarryOn
) -> "Express | None":
    """Ask a vendor now; ``None``, and nothing has happened, when the usual way is to be taken."""
    if not _is_plain(core, arrival, body):
        return None
    try:
        asked = _ask(core, arrival, body)
    except BaseException:  # No task is told to end here; the usual way says what is wrong.
        return None
    return None if asked is None else Express(core, asked, reply, carry_on)


def _is_plain(core: Core, arrival: Arrival, body: bytes) -> bool:
    """Whether nothing about a request calls for more, as far as can be told without reading it."""
    if core.is_full or core.is_stopping or core.interceptors.active or core.observing.is_on:
        return False
    endpoint, key = arrival.route.endpoint, arrival.caller.key
    if endpoint.counting is not None or (key is not None and key.has_limits):
        return False
    if len(body) > core.max_body or "content-encoding" in arrival.headers:
        return False
    return arrival.is_json and not _may_stream(body)


def _may_stream(body: bytes) -> bool:
    """A glance that spares most streams being read twice; the last word is the format's."""
    place = body.find(_STREAM)
    return place >= 0 and body[place + len(_STREAM) : place + 16].lstrip(b" :")[:1] != b"f"


def _ask(core: Core, arrival: Arrival, body: bytes) -> Asked | None:
    """Send the request, if there is but one place to send it to. Raises whatever its parts do."""
    tables = core.tables
    call = call_of(tables, arrival, body)
    if call.stream:
        return None
    question = Question(call, tables.registry.formats, int(core.clock()), tables.ways)
    found = _only(core, tables, question, arrival.key)
    if found is None:
        return None
    member, credential = found[0], found[1].credential
    exchange = question.open(member.target, credential)
    core.firewall.check(member.target.provider, credential, exchange.request)
    sent = core.network.direct.begin(exchange.request)
    return None if sent is None else Asked(arrival, tables, question, *found, exchange, sent)


def _only(
    core: Core, tables: Tables, question: Question, key: Key | None
) -> tuple[Member, Account] | None:
    """Member and account, where there is no choice to make. Raises as the plan's parts do."""
    call = question.call
    if PIN in call.headers:
        return None
    known = ("only", call.format, call.kind, call.model, None if key is None else key.id)
    held: Only | None = tables.memory.get(known)
    # A key that was changed is another value with the same id.
    if held is None or held.key is not key:
        held = Only(key, _alone(core, tables, question, key))
        tables.remember(known, held)
    elif key is not None:
        check_further(key, call.members)
    if held.found is None:
        return None
    member, its = held.found
    return None if core.health.resting(its.id, member.target.model.id) else held.found


def _alone(
    core: Core, tables: Tables, question: Question, key: Key | None
) -> tuple[Member, Account] | None:
    """What stands in the way but an account's rest. Raises as the plan's parts do."""
    laid = planned(core, tables, question)
    if laid.combo is not None or len(laid.members) > 1 or (key is not None and key.connections):
        return None
    if key is not None:
        laid = permitted(tables, key, laid, question.call)
    member = laid.members[0]
    provider = member.target.provider
    accounts = tables.accounts.get(provider.id, ())
    if not accounts or core.turns.rotate(provider.id, accounts, tables.settings):
        return None
    if provider.executor is not None or accounts[0].proxy is not None:
        return None
    return member, accounts[0]


class Express:
    """One request on its way. The connection to the vendor tells it when something has come."""

    __slots__ = ("_asked", "_carry_on", "_core", "_reply", "_trace")

    def __init__(self, core: Core, asked: Asked, reply: Reply, carry_on: CarryOn) -> None:
        self._core, self._asked, self._reply, self._carry_on = core, asked, reply, carry_on
        trace = self._trace = begun(core, asked.arrival)
        trace.model = asked.question.call.model[:MAX_NAME]
        trace.target, trace.connection_id = asked.member.target, asked.account.id
        asked.sent.answer.waiter = self

    # What the server tells.

    def leave(self) -> None:
        """The client has gone."""
        answer, trace = self._asked.sent.answer, self._trace
        answer.waiter = None
        if answer.source is not None:
            answer.source.drop(answer)
        trace.status, trace.http_status, trace.attempts = "client_gone", 499, 1
        self._note_turn()
        ended(self._core, trace)

    def go_on(self) -> None:
        """Leave the rest to a task, which takes this attempt over as it is."""
        self._asked.sent.answer.waiter = None
        self._hand_over(self._asked.exchange)

    # What the answer tells: this is its waiter.

    def done(self) -> bool:
        return False

    def set_exception(self, error: BaseException) -> None:
        self.go_on()

    def set_result(self, result: None) -> None:
        """The answer is whole, or not what was hoped for."""
        answer = self._asked.sent.answer
        if answer.source is not None or answer.failure is not None or answer.status // 100 != 2:
            self.go_on()
        elif self._is_told(answer):
            self._finish(answer)
        else:
            self._hand_over(None)  # The answer is whole, and is read once more.

    def _is_told(self, answer: Arriving) -> bool:
        """Whether the client has its answer now. It has nothing when the vendor's, which is
        kept, makes no sense, and when the client takes its time."""
        exchange = self._asked.exchange
        try:
            given = exchange.feed(b"".join(answer.chunks)) + exchange.close()
            if exchange.failure is not None or type(given) is not bytes:
                return False
            headers = answer_headers(exchange, answer)
            told = whole_headers(headers, given, self._trace.request_id.encode())
            return self._reply(200, told, given)
        except BaseException:  # No task is told to end here, so this is what a plugin does.
            return False

    def _finish(self, arriving: Arriving) -> None:
        core, asked, trace = self._core, self._asked, self._trace
        arriving.chunks.clear()
        core.health.praise(asked.account.id, asked.member.target.model.id)
        self._note_turn()
        trace.attempts, trace.first_byte = 1, time.monotonic()
        try:
            account(asked.question.call, asked.exchange, trace, is_over=True)
        except BaseException:
            log.exception("request %s failed", trace.request_id)
            trace.failed(GatewayError("Request failed"))
        ended(core, trace)

    def _note_turn(self) -> None:
        asked = self._asked
        session = session_of(asked.question.call)
        self._core.turns.used(asked.account.provider, asked.account.id, session)

    def _hand_over(self, exchange: Exchange | None) -> None:
        """To a task, which reads the answer with ``exchange``, or with a new one."""
        self._carry_on(partial(self._resumed, exchange))

    async def _resumed(
        self, exchange: Exchange | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        core, asked = self._core, self._asked
        opened = Opened(asked.account, exchange, partial(core.network.direct.finish, asked.sent))
        started = Started(asked.tables, asked.question, self._trace, opened)
        await infer(core, asked.arrival, scope, receive, send, started)
