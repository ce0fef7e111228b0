"""Which of a provider's accounts are tried, and in which order."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from ..config.settings import Settings
from ..contracts.provider import Call
from .snapshot import Account

MOST_SESSIONS = 5000
LONGEST_SESSION = 256
PIN = "x-connection-id"
"""The header that names the account to use."""
_SESSION_HEADERS = (
    "x-session-id",
    "session-id",
    "session_id",
    "x-amp-thread-id",
    "x-client-request-id",
)
_SESSION_MEMBERS = ("prompt_cache_key", "session_id", "conversation_id")
_IN_HEADERS, _IN_MEMBERS = frozenset(_SESSION_HEADERS), frozenset(_SESSION_MEMBERS)


class AccountConstraints(Struct, frozen=True):
    """What a request says about accounts."""

    pinned: str | None = None
    """The only account it may use."""
    allowed: frozenset[str] = frozenset()
    """Accounts a combo may use; empty allows all."""
    scope: frozenset[str] = frozenset()
    """The accounts of the caller's key; empty allows all."""
    session: str | None = None
    """Calls of one session stay on one account, where accounts take turns."""


class RoundRobin:
    """Remembers whose turn it is, in memory and for this process.

    What a turn costs does not grow with the number of accounts, unless the
    first one does not answer.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, int]] = {}
        self._used: dict[str, int] = {}
        self._count = 0
        self._sessions: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._rings: dict[str, tuple[Sequence[Account], Ring]] = {}

    def order(
        self, provider: str, accounts: Sequence[Account], settings: Settings, session: str | None
    ) -> Iterable[Account]:
        """Accounts in the order to try them; the first is the one whose turn it is."""
        if not self.rotate(provider, accounts, settings):
            return accounts
        own = settings.provider_strategies.get(provider)
        limit = (own and own.sticky_round_robin_limit) or settings.sticky_round_robin_limit
        return self._take_turns(provider, accounts, limit, session)

    def rotate(self, provider: str, accounts: Sequence[Account], settings: Settings) -> bool:
        """Whether a provider's accounts take turns."""
        if len(accounts) < 2:
            return False
        own = settings.provider_strategies.get(provider)
        return ((own and own.fallback_strategy) or settings.fallback_strategy) == "round-robin"

    def used(self, provider: str, account: str, session: str | None) -> None:
        """An account has taken a call."""
        last, times = self._last.get(provider, ("", 0))
        self._last[provider] = (account, times + 1 if last == account else 1)
        self._count += 1
        self._used[account] = self._count
        if provider in self._rings and account in self._rings[provider][1]:
            self._rings[provider][1].move_to_end(account)
        if session:
            self._sessions[provider, session] = account
            self._sessions.move_to_end((provider, session))
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)

    def _take_turns(
        self, provider: str, accounts: Sequence[Account], limit: int, session: str | None
    ) -> Iterator[Account]:
        """The account whose turn it is, and the others by when they were used last."""
        source, ring = self._rings.get(provider, (None, OrderedDict()))
        if source is not accounts:
            by_age = sorted(accounts, key=lambda account: self._used.get(account.id, 0))
            ring = OrderedDict((account.id, account) for account in by_age)
            # A list is a choice made for one request; the tuple is the provider's own.
            if isinstance(accounts, tuple):
                self._rings[provider] = (accounts, ring)
        kept = self._sessions.get((provider, session)) if session else None
        if kept is None:
            last, times = self._last.get(provider, ("", 0))
            kept = last if times < limit else None
        first = ring.get(kept or "") or next(iter(ring.values()))
        yield first
        yield from [account for account in ring.values() if account is not first]


Ring = OrderedDict[str, Account]


def eligible(accounts: Sequence[Account], constraints: AccountConstraints) -> Sequence[Account]:
    """The accounts that a request may use at all."""
    if constraints.scope:
        accounts = [account for account in accounts if account.id in constraints.scope]
    if constraints.pinned is not None:
        return [account for account in accounts if account.id == constraints.pinned]
    if constraints.allowed:
        return [account for account in accounts if account.id in constraints.allowed]
    return accounts


def session_of(call: Call) -> str | None:
    """The client's own id of its session, at most 256 characters."""
    headers = call.headers
    if not _IN_HEADERS.isdisjoint(headers):
        for name in _SESSION_HEADERS:
            if headers.get(name):
                return headers[name][:LONGEST_SESSION]
    if _IN_MEMBERS.isdisjoint(call.members):
        return None
    for name in _SESSION_MEMBERS:
        raw = call.members.get(name)
        if raw is not None and bytes(raw)[:1] == b'"':
            # Only to tell sessions apart, so what is not text need not be refused.
            text = str(msgspec.json.decode(bytes(raw).decode(errors="replace")))
            return text[:LONGEST_SESSION]
    return None
