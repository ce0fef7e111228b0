"""Tries members and their accounts until one answers.

Nothing of an attempt reaches the client before its answer has started; from then on there is
no other attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from ..contracts.errors import (
    AllAccountsCooling,
    GatewayError,
    HostRefused,
    NoCredentials,
    NothingToTry,
    PluginBroken,
    TooSlow,
    TransportError,
    Unsendable,
    UpstreamError,
)
from ..contracts.exchange import Exchange, UpstreamResponse
from ..contracts.provider import Credential, Target
from ..contracts.wire import Answered
from ..metering.request_record import RequestRecord
from ..routing.account_selection import AccountConstraints, eligible
from ..routing.cooldowns import Cooldown
from ..routing.plan import Member
from ..routing.provider_limits import ProviderFull
from ..routing.snapshot import Account, ConfigSnapshot
from ..upstream.redaction import redact, secrets_of
from ..upstream.transport import arrived, is_over, read_all
from .attempt import Attempt, record_failure
from .context import Collaborators
from .filtering import RunFiltering
from .media_by_value import MediaByAddress
from .send import broken, longest, send
from .steps import answer_in_steps, refusal_of

ANSWER_LIMIT = 64 * 1024 * 1024

Opener = Callable[[Target, Credential], Exchange]


class Job(Struct, frozen=True, kw_only=True):
    """What to send, and how."""

    opener: Opener
    stream: bool
    constraints: AccountConstraints = AccountConstraints()
    timeout: float | None = None
    """Seconds for one member that has no time of its own."""
    timeout_status: int = 504
    """The status when a member's time is up."""
    insist: bool = False
    """An empty whole answer is asked for once more, then counts as a failure."""
    is_service: bool = False
    """Exchanges are ``ServiceExchange``: they may need several requests."""
    answer_limit: int | None = None
    """Largest answer of a service that is read whole, bytes."""
    is_route: bool = False
    """Another member is asked only where one is not available."""
    is_final: bool = False
    """Nothing is sent a second time."""
    filtering: RunFiltering | None = None


class FirstAttempt(Struct, frozen=True):
    """An attempt that the fast path has sent, for the account that is first in turn."""

    attempt: Attempt
    response: Callable[[], Awaitable[UpstreamResponse]]
    """Waits for the head of its response. Raises what stopped it."""


async def dispatch(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    members: Sequence[Member],
    job: Job,
    record: RequestRecord,
    first: FirstAttempt | None = None,
) -> Attempt:
    """The first attempt that answers. Raises the last refusal, or why nobody could be asked."""
    refusals = Refusals(members)
    for member in members:
        try:
            # The limit is a member's, whatever number of its accounts are tried.
            async with asyncio.timeout(member.timeout or job.timeout):
                return await _ask_member(core, snapshot, member, job, record, refusals, first)
        except TimeoutError:
            message = f"{member.name} did not answer in time"
            error = TransportError(message, status=job.timeout_status)
            refusals.add(record, member.target, error)
        except MemberFailed:
            if job.is_route and refusals.last is not None and not is_unavailable(refusals.last):
                break
    raise refusals.verdict(core.clock())


def is_unavailable(error: UpstreamError) -> bool:
    """Whether a failure is the vendor's or its account's, not the request's."""
    return error.status in (401, 402, 403, 429) or error.status >= 500


class MemberFailed(Exception):
    """Every account of a member was tried or is resting."""


class Refusals:
    """What went wrong so far, and what the client is answered when nobody is left to ask."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self.last: UpstreamError | None = None
        self.cooldowns: list[tuple[Target, Cooldown]] = []
        self.unconnected: list[str] = []
        self.unfit: Unsendable | None = None

    def add(self, record: RequestRecord, target: Target, error: UpstreamError) -> None:
        """Note an attempt that failed."""
        self.last = error
        record.attempt_failed(target, error)

    def is_last(self, member: Member) -> bool:
        return member is self._members[-1]

    def verdict(self, now: float) -> GatewayError:
        soonest = min((cooldown.until for _, cooldown in self.cooldowns), default=None)
        wait = None if soonest is None else max(1.0, soonest - now)
        if self.last is not None:
            is_limited = self.last.status == 429
            if self.last.retry_after is None and (is_limited or len(self._members) > 1):
                self.last.retry_after = wait
            return self.last
        if self.cooldowns:
            return self._cooling(wait)
        if self.unfit is not None:
            return self.unfit
        if self.unconnected:
            return NoCredentials(self.unconnected[0])
        return NothingToTry("There is nothing to send this request to")

    def _cooling(self, wait: float | None) -> AllAccountsCooling:
        # A refused credential says more than a rate limit that ends by itself.
        refused = [each for each in self.cooldowns if each[1].status in (401, 403)]
        target, cooldown = (refused or self.cooldowns)[-1]
        text = f"[{target}] {cooldown.reason}"
        return AllAccountsCooling(
            f"{text} (reset after {format_wait(wait or 1)})",
            status=cooldown.status,
            retry_after=wait,
        )


def format_wait(seconds: float) -> str:
    """``2m 5s``, ``1h 0m``, ``40s``."""
    whole = max(1, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60}m"
    return f"{whole // 60}m {whole % 60}s" if whole >= 60 else f"{whole}s"


async def _ask_member(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    member: Member,
    job: Job,
    record: RequestRecord,
    refusals: Refusals,
    first: FirstAttempt | None,
) -> Attempt:
    target, constraints = member.target, job.constraints
    if record.target is None:
        # Noted before anybody is asked, so that a refusal is booked on the model it was for.
        record.target = target
    if member.pinned is not None:
        constraints = AccountConstraints(pinned=member.pinned, scope=constraints.scope)
    accounts = eligible(snapshot.accounts.get(target.provider.id, ()), constraints)
    if not accounts:
        refusals.unconnected.append(target.provider.shown)
    session = job.constraints.session
    for account in core.round_robin.order(target.provider.id, accounts, snapshot.settings, session):
        sent = first if first is not None and first.attempt.account is account else None
        cooldown = core.cooldowns.find(account.id, member.resting)
        if cooldown is not None and sent is None:
            refusals.cooldowns.append((target, cooldown))
            continue
        first = None  # What was sent ahead is read once.
        try:
            attempt = await _ask_in_place(
                core, snapshot, member, account, job, record, sent, is_last=refusals.is_last(member)
            )
            core.cooldowns.record_success(account.id, member.resting)
            return attempt
        except ProviderFull as full:  # So it is for its other accounts.
            until = core.clock() + full.wait
            refusals.cooldowns.append((target, Cooldown(until, 0, 429, full.reason)))
            break
        except Unsendable as error:
            refusals.unfit = error
            break
        except HostRefused as error:  # No fault of the account: it gets no cooldown.
            refusals.add(record, target, error)
        except PluginBroken as error:
            refusals.add(record, target, error)
            break
        except UpstreamError as error:
            # Vendors have been seen to repeat the key they refuse.
            error.message = redact(error.message, secrets_of(account.credential))
            refusals.add(record, target, error)
            if not record_failure(core, snapshot, member, account, error) or job.is_final:
                raise
            cooldown = core.cooldowns.find(account.id, member.resting)
            if cooldown is not None:
                refusals.cooldowns.append((target, cooldown))
        except (GatewayError, Answered):
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            refusals.add(record, target, broken(core, target.provider, account, error))
            break
    raise MemberFailed


async def _ask_in_place(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    member: Member,
    account: Account,
    job: Job,
    record: RequestRecord,
    sent: FirstAttempt | None,
    *,
    is_last: bool,
) -> Attempt:
    """Ask when the provider's limits let another call in. Raises ProviderFull where they do not.

    A place is waited for only where no other member can be asked instead.
    """
    provider, settings = member.target.provider, snapshot.settings
    gate = None
    # Mostly nothing is limited, and then no gate is looked for.
    if (
        settings.provider_concurrency_limits
        or settings.rpm_by_provider
        or provider.calls_per_minute
    ):
        gate = core.provider_limits.gate(provider, settings)
    if gate is None:
        return await _ask_account(core, member, account, job, record, sent)
    await gate.enter(core.environment.concurrency_gate_timeout_ms / 1000 if is_last else 0)
    try:
        attempt = await _ask_account(core, member, account, job, record, sent)
    except BaseException:
        gate.leave()
        raise
    attempt.gate = gate
    if attempt.is_complete:
        attempt.leave()
    return attempt


async def _ask_account(
    core: Collaborators,
    member: Member,
    account: Account,
    job: Job,
    record: RequestRecord,
    sent: FirstAttempt | None,
) -> Attempt:
    if sent is not None:
        attempt, answering = sent.attempt, sent.response()
    else:
        try:
            exchange = job.opener(member.target, account.credential)
        except MediaByAddress as media:
            await media.fetch(core.network, core.snapshot.proxy)
            exchange = job.opener(member.target, account.credential)
        attempt = Attempt(member, account, exchange)
        answering = _send(core, attempt, job)
        attempt.begin(core, record, job.constraints.session)
    try:
        if job.is_service:
            limit = ANSWER_LIMIT if job.answer_limit is None else job.answer_limit
            await answer_in_steps(core, attempt, answering, record, limit)
            return attempt
        await _read_answer(core, attempt, answering, job, record)
        if not job.insist or job.stream or not is_blank(attempt.exchange):
            return attempt
        record.add_usage(attempt.exchange.usage)
        attempt = Attempt(member, account, job.opener(member.target, account.credential))
        answering = _send(core, attempt, job)
        record.attempts += 1
        await _read_answer(core, attempt, answering, job, record)
        if is_blank(attempt.exchange):
            raise UpstreamError("The upstream gave an empty answer")
        return attempt
    except BaseException as error:
        if (on_failure := getattr(record, "on_failure", None)) is not None:
            on_failure(attempt.exchange, account.id, error)
        raise


def _send(core: Collaborators, attempt: Attempt, job: Job) -> Awaitable[UpstreamResponse]:
    request, provider = attempt.exchange.request, attempt.member.target.provider
    if provider.executor is not None:
        request = replace(request, losses=attempt.exchange.losses)
    # The exchange of a service need not say that its answer is not streamed.
    request = request if job.stream or request.whole else replace(request, whole=True)
    if job.filtering is not None:
        return job.filtering.send(attempt, request)
    return send(core, provider, attempt.account, request)


def is_blank(exchange: Exchange) -> bool:
    usage = exchange.usage
    return exchange.characters == 0 and (usage is None or usage.output_tokens == 0)


async def _read_answer(
    core: Collaborators,
    attempt: Attempt,
    answering: Awaitable[UpstreamResponse],
    job: Job,
    record: RequestRecord,
) -> None:
    """Read a response until it counts as an answer. Raises UpstreamError where it does not."""
    exchange, begun = attempt.exchange, monotonic()
    response = await answering
    if record.detail is not None:
        secrets = secrets_of(attempt.account.credential)
        response = record.detail.hear(exchange.request, response, secrets)
    attempt.response = response
    try:
        if not 200 <= response.status < 300:
            raise await refusal_of(exchange, response)
        if not job.stream:
            whole = arrived(response)
            if whole is None:
                left = begun + longest(core, exchange.request) - monotonic()
                try:
                    async with asyncio.timeout(left):
                        whole = await read_all(response, ANSWER_LIMIT)
                except TimeoutError:
                    raise TooSlow("The upstream took too long to answer") from None
            attempt.read_whole(whole)
            return
        is_started = False
        while not is_started:
            chunk = await response.next()
            is_started = attempt.read_start(chunk, is_last=not chunk or is_over(response))
        if attempt.is_complete:
            await response.aclose()
    except BaseException:
        await response.aclose()
        raise
