"""One exchange with one account: what the vendor has sent, and what the client may have of it.

An attempt never awaits. The asyncio dispatcher and the callbacks of the fast path both
feed it, so the rules for when an answer counts as one stand here once.
"""

from msgspec.structs import replace

from ..contracts.errors import UpstreamError
from ..contracts.exchange import Exchange, UpstreamResponse
from ..metering.request_record import RequestRecord
from ..routing.failure_rules import classify
from ..routing.plan import Member
from ..routing.provider_limits import Gate
from ..routing.snapshot import Account, ConfigSnapshot
from ..upstream.transport import is_over
from .context import Collaborators

UNMEANT_LIMIT = 1024 * 1024
"""Output that a stream may produce before any of it is part of an answer, bytes. Generous,
because some vendors first repeat the whole request, tools included."""
UNREAD_LIMIT = UNMEANT_LIMIT + 16 * 1024 * 1024
"""Input that may arrive before that, bytes. An event that has not arrived whole cannot be judged
yet: an image is one event, and formats accept them up to this size."""


class Attempt:
    """A member asked through one of its accounts."""

    response: UpstreamResponse | None = None
    """Set once the head of the response has arrived."""
    pending = b""
    """Output for the client that was not sent yet."""
    taken = 0
    """Bytes of a stream read before any of them was part of an answer."""
    is_complete = False
    """The response was read to its end, and the exchange closed."""
    gate: Gate | None = None
    """Of a provider whose calls are limited, while this is one of them."""

    def __init__(self, member: Member, account: Account, exchange: Exchange) -> None:
        self.member, self.account, self.exchange = member, account, exchange

    def begin(self, core: Collaborators, record: RequestRecord, session: str | None) -> None:
        """The request is on its way."""
        target = self.member.target
        # Counted when it leaves, so that a client that goes now is booked on this account.
        record.attempts += 1
        record.target, record.connection_id = target, self.account.id
        core.round_robin.used(target.provider.id, self.account.id, session)

    def read_whole(self, body: bytes) -> None:
        """Take a whole response body. Raises UpstreamError for one that is no answer."""
        exchange = self.exchange
        output = exchange.feed(body) + exchange.close()
        # Feed and close never raise for what a vendor sent: what is wrong is in ``failure``.
        if exchange.failure is not None:
            raise exchange.failure
        if type(output) is not bytes:  # A plugin's mistake, which the caller reports as such.
            raise TypeError(f"the exchange produced {type(output).__name__} instead of bytes")
        self.pending, self.is_complete = output, True

    def read_start(self, chunk: bytes, *, is_last: bool) -> bool:
        """Take the next bytes of a stream none of which was part of an answer so far.

        True once the answer has started. Until then nothing reaches the client, so another
        account may still be asked. Raises UpstreamError where the stream failed, ended
        empty or went on for too long.
        """
        exchange = self.exchange
        # An exchange counts what it fed, not what it held back, so input is counted here.
        if chunk:
            self.taken += len(chunk)
            self.pending += exchange.feed(chunk)
        if is_last and (not chunk or exchange.failure is None):
            self.pending += exchange.close()
            self.is_complete = True
        # A failure behind the first part of an answer is the stream's: nobody else is asked then.
        if exchange.started:
            return True
        if exchange.failure is not None:
            raise exchange.failure
        if is_last:
            raise UpstreamError("The upstream gave an empty answer")
        if len(self.pending) > UNMEANT_LIMIT or self.taken > UNREAD_LIMIT:
            raise UpstreamError("The upstream sent nothing that means anything")
        return False

    def leave(self) -> None:
        """It counts no longer among its provider's calls."""
        gate, self.gate = self.gate, None
        if gate is not None:
            gate.leave()

    @property
    def is_read(self) -> bool:
        """Nothing more will arrive, as far as that is known without asking for more."""
        return self.is_complete or (self.response is not None and is_over(self.response))


def record_failure(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    member: Member,
    account: Account,
    error: UpstreamError,
) -> bool:
    """Put an account to rest as its failure asks; true where another one may be tried.

    A member that rests under a name of its own leaves the account's other work alone.
    """
    failure = classify(error, member.target.provider, snapshot.settings)
    if member.cooldown and failure.whole_account:
        failure = replace(failure, whole_account=False)
    core.cooldowns.record_failure(account.id, member.resting, error, failure)
    return failure.retry
