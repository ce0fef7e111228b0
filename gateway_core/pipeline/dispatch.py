"""Tries members and their accounts until one answers.

Nothing of an attempt reaches the client before its answer has begun to mean
something; from then on there is no other attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import Struct

from ..contracts.errors import (
    AllAccountsCooling,
    GatewayError,
    HostRefused,
    KeptElsewhere,
    NoCredentials,
    NothingToTry,
    PluginBroken,
    TransportError,
    UpstreamError,
)
from ..contracts.exchange import Exchange, UpstreamResponse
from ..contracts.provider import Credential, Target
from ..metering.request_record import RequestRecord
from ..routing.account_selection import AccountConstraints, eligible
from ..routing.cooldowns import Cooldown
from ..routing.failure_rules import classify
from ..routing.plan import Member
from ..routing.snapshot import Account, ConfigSnapshot
from ..upstream.redaction import redact, secrets_of
from ..upstream.transport import arrived, is_over, read_all
from .context import Core
from .send import broken, send

ERROR_BODY_LIMIT = 64 * 1024
ANSWER_LIMIT = 64 * 1024 * 1024
UNMEANT_LIMIT = 1024 * 1024
"""How much of a stream may pass without meaning anything before it counts as empty, bytes.
Generous, because some vendors first repeat the request, tools and all."""
UNREAD_LIMIT = UNMEANT_LIMIT + 16 * 1024 * 1024
"""The same with an event that has not come whole, of which nobody can tell yet what it means: an
image is one, and formats take them as long as this."""

Opener = Callable[[Target, Credential], Exchange]


class Answer(Struct):
    """An attempt that answers. ``first`` is what the client gets at once."""

    member: Member
    account: Account
    exchange: Exchange
    response: UpstreamResponse
    first: bytes
    ended: bool
    """True when ``first`` is all there is."""


class Opened(Struct, frozen=True):
    """A first attempt that was begun already, for the account that is first in turn."""

    account: Account
    exchange: Exchange | None
    """``None`` when a new one is to read the answer."""
    answering: Callable[[], Awaitable[UpstreamResponse]]
    """Waits for the head of its answer. Raises TransportError."""
    given: bytes = b""
    """Of a stream: what the exchange has made of what was read, which means nothing yet."""
    taken: int = 0
    """Bytes that were read."""


class Job(Struct, frozen=True, kw_only=True):
    """What is to be sent, and how."""

    opener: Opener
    stream: bool
    wanted: AccountConstraints = AccountConstraints()
    timeout: float | None = None
    """Seconds for one member."""
    insist: bool = False
    """An empty whole answer is asked for once more, then counts as a failure."""
    opened: Opened | None = None


async def dispatch(
    core: Core, snapshot: ConfigSnapshot, members: Sequence[Member], job: Job, record: RequestRecord
) -> Answer:
    """The first answer. Raises the last refusal, or why there was nothing to ask."""
    refusals = _Refusals(members)
    for member in members:
        try:
            if job.timeout is None:
                return await _ask_member(core, snapshot, member, job, record, refusals)
            async with asyncio.timeout(job.timeout):
                return await _ask_member(core, snapshot, member, job, record, refusals)
        except TimeoutError:
            refusals.last = TransportError(f"{member.name} did not answer in time", status=504)
        except _MemberFailed:
            continue
    raise refusals.verdict(core.clock())


class _MemberFailed(Exception):
    """Every account of a member was tried or is resting."""


class _Refusals:
    """What went wrong so far."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self.last: UpstreamError | None = None
        self.rests: list[Cooldown] = []
        self.unconnected: list[str] = []
        self.unfit: KeptElsewhere | None = None

    def verdict(self, now: float) -> GatewayError:
        soonest = min((rest.until for rest in self.rests), default=None)
        wait = None if soonest is None else max(1.0, soonest - now)
        if self.last is not None:
            if self.last.retry_after is None and len(self._members) > 1:
                self.last.retry_after = wait
            return self.last
        if self.rests:
            return self._cooling(wait)
        if self.unfit is not None:
            return self.unfit
        if self.unconnected:
            return NoCredentials(self.unconnected[0])
        return NothingToTry("There is nothing to send this request to")

    def _cooling(self, wait: float | None) -> AllAccountsCooling:
        refused = [rest for rest in self.rests if rest.status in (401, 403)]
        rest = (refused or self.rests)[-1]
        target = self._members[-1].target
        text = f"[{target.provider.id}/{target.model.id}] {rest.reason}"
        return AllAccountsCooling(
            f"{text} (reset after {spoken_time(wait or 1)})", status=rest.status, retry_after=wait
        )


def spoken_time(seconds: float) -> str:
    """``2m 5s``, ``1h 0m``, ``40s``."""
    whole = max(1, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60}m"
    return f"{whole // 60}m {whole % 60}s" if whole >= 60 else f"{whole}s"


async def _ask_member(
    core: Core,
    snapshot: ConfigSnapshot,
    member: Member,
    job: Job,
    record: RequestRecord,
    refusals: _Refusals,
) -> Answer:
    provider, model = member.target.provider.id, member.target.model.id
    for account in _accounts(core, snapshot, member, job, refusals):
        rest = core.cooldowns.find(account.id, model)
        if rest is not None and not _is_opened(job, account, record):
            refusals.rests.append(rest)
            continue
        core.round_robin.used(provider, account.id, job.wanted.session)
        try:
            answer = await _ask_account(core, member, account, job, record)
            if job.insist and not job.stream and is_blank(answer.exchange):
                answer = await _ask_again(core, member, account, job, record, answer)
            core.cooldowns.record_success(account.id, model)
            return answer
        except KeptElsewhere as error:
            refusals.unfit = error
            break
        except HostRefused as error:
            refusals.last = error
        except PluginBroken as error:
            refusals.last = error
            break
        except UpstreamError as error:
            # Vendors have been seen to repeat the key they refuse.
            error.message = redact(error.message, secrets_of(account.credential))
            refusals.last = error
            verdict = classify(error, member.target.provider, snapshot.settings)
            core.cooldowns.record_failure(account.id, model, error, verdict)
            if not verdict.retry:
                raise
            _note_rest(core, refusals, account, model)
        except GatewayError:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            refusals.last = broken(core, member.target.provider, account, error)
            break
    raise _MemberFailed


def _note_rest(core: Core, refusals: _Refusals, account: Account, model: str) -> None:
    rest = core.cooldowns.find(account.id, model)
    if rest is not None:
        refusals.rests.append(rest)


def _accounts(
    core: Core, snapshot: ConfigSnapshot, member: Member, job: Job, refusals: _Refusals
) -> Iterable[Account]:
    provider = member.target.provider.id
    wanted = job.wanted
    if member.pinned is not None:
        wanted = AccountConstraints(pinned=member.pinned, scope=wanted.scope)
    accounts = eligible(snapshot.accounts.get(provider, ()), wanted)
    if not accounts:
        refusals.unconnected.append(provider)
    return core.round_robin.order(provider, accounts, snapshot.settings, job.wanted.session)


async def _ask_again(
    core: Core, member: Member, account: Account, job: Job, record: RequestRecord, blank: Answer
) -> Answer:
    record.add_usage(blank.exchange.usage)
    answer = await _ask_account(core, member, account, job, record)
    if is_blank(answer.exchange):
        raise UpstreamError("The upstream gave an empty answer")
    return answer


def _is_opened(job: Job, account: Account, record: RequestRecord) -> bool:
    opened = job.opened
    return opened is not None and record.attempts == 0 and opened.account is account


def is_blank(exchange: Exchange) -> bool:
    usage = exchange.usage
    return exchange.characters == 0 and (usage is None or usage.output_tokens == 0)


async def _ask_account(
    core: Core, member: Member, account: Account, job: Job, record: RequestRecord
) -> Answer:
    target, opened = member.target, job.opened
    if opened is not None and _is_opened(job, account, record):
        exchange = opened.exchange or job.opener(target, account.credential)
        answering = opened.answering()
    else:
        exchange = job.opener(target, account.credential)
        answering = send(core, target.provider, account, exchange.request)
    record.attempts += 1
    record.target, record.connection_id = target, account.id
    response = await answering
    if record.detail is not None:
        secrets = secrets_of(account.credential)
        response = record.detail.hear(exchange.request, response, secrets)
    try:
        if not 200 <= response.status < 300:
            raise exchange.refusal(
                response.status, response.headers, await _beginning(response, ERROR_BODY_LIMIT)
            )
        if job.stream:
            begun = (opened.given, opened.taken) if opened is not None else (b"", 0)
            first, ended = await _begin_stream(exchange, response, *begun)
        else:
            body = arrived(response)
            first, ended = _read(exchange, await _whole(core, response) if body is None else body)
    except BaseException:
        await response.aclose()
        raise
    return Answer(member, account, exchange, response, first, ended)


def _read(exchange: Exchange, body: bytes) -> tuple[bytes, bool]:
    given = exchange.feed(body) + exchange.close()
    if exchange.failure is not None:
        raise exchange.failure
    return given, True


async def _whole(core: Core, response: UpstreamResponse) -> bytes:
    try:
        async with asyncio.timeout(core.whole_timeout):
            return await read_all(response, ANSWER_LIMIT)
    except TimeoutError:
        raise TransportError("The upstream took too long to answer", status=504) from None


async def _begin_stream(
    exchange: Exchange, response: UpstreamResponse, given: bytes, taken: int
) -> tuple[bytes, bool]:
    """Read until the answer means something, has failed or is over."""
    while True:
        if len(given) > UNMEANT_LIMIT or taken > UNREAD_LIMIT:
            raise UpstreamError("The upstream sent nothing that means anything")
        chunk = await response.next()
        taken += len(chunk)
        given += exchange.feed(chunk) if chunk else exchange.close()
        if chunk and exchange.failure is None and is_over(response):
            given, chunk = given + exchange.close(), b""
        if exchange.failure is not None and not exchange.started:
            raise exchange.failure
        if not chunk:
            await response.aclose()
            if not exchange.started:
                raise UpstreamError("The upstream gave an empty answer")
            return given, True
        if exchange.started or exchange.failure is not None:
            return given, False


async def _beginning(response: UpstreamResponse, limit: int) -> bytes:
    """The body, or what comes before ``limit`` bytes have passed; enough of an error."""
    parts = bytearray()
    while len(parts) <= limit and (chunk := await response.next()):
        parts += chunk
    return bytes(parts[:limit])


def blame_in_stream(
    core: Core, snapshot: ConfigSnapshot, answer: Answer, error: UpstreamError
) -> None:
    """An answer broke off. The client has bytes already, so nobody else is asked."""
    target = answer.member.target
    verdict = classify(error, target.provider, snapshot.settings)
    core.cooldowns.record_failure(answer.account.id, target.model.id, error, verdict)
