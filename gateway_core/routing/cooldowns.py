"""Which accounts are resting, and for how long.

A rest is for one account and one model, or for the whole account. It is kept
in memory and noted on the account's row by the ledger's writer, so that a
restart does not forget it. Where a plugin keeps a state that processes share,
the others learn of it at once, and of scores.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..config.environment import Environment
from ..contracts.errors import UpstreamError
from ..contracts.shared_state import AccountRest, AccountScore
from ..storage.moments import iso
from .failure_rules import FailureClass
from .snapshot import Account

EVERY_MODEL = "__all"
LOCK = "modelLock_"
LONGEST = 366 * 24 * 3600.0
"""Seconds; a rule may ask for more, but not for more than a date can hold."""
MOST_DOUBLINGS = 64
BEST = 100.0
MOST_SCORES = 5000
"""Accounts and models with another score; names of models may be a client's."""


@dataclass(slots=True)
class Cooldown:
    """Until when an account rests for one model, and why."""

    until: float
    """Wall clock, seconds."""
    level: int
    status: int
    reason: str


class Cooldowns:
    """Cooldowns by account and model, and scores by account."""

    def __init__(
        self,
        environment: Environment,
        clock: Callable[[], float],
        publish: Callable[[AccountRest | AccountScore], None] | None = None,
    ) -> None:
        """``publish`` lets other processes know of a rest that begins or ends, and of a score."""
        self._base = environment.backoff_base_ms / 1000
        self._max = environment.backoff_max_ms / 1000
        self._max_level = environment.backoff_max_level
        self._clock = clock
        self._publish = publish
        self._rests: dict[str, dict[str, Cooldown]] = {}
        self._scores: dict[tuple[str, str], float] = {}
        self._notes: dict[str, dict[str, Any]] = {}

    def find(self, account: str, model: str) -> Cooldown | None:
        """The rest that keeps this account from this model now, if any."""
        rests = self._rests.get(account) if self._rests else None
        if rests is None:
            return None
        now, longest = self._clock(), None
        for name in (model, EVERY_MODEL):
            rest = rests.get(name)
            if (
                rest is not None
                and rest.until > now
                and (not longest or rest.until > longest.until)
            ):
                longest = rest
        return longest

    def record_success(self, account: str, model: str) -> None:
        """It answered: end its rest, and those that are over, which resets their levels."""
        if (account, model) in self._scores:
            self._rate(account, model, 10.0)
        rests = self._rests.get(account) if self._rests else None
        if rests is not None:
            now = self._clock()
            over = [name for name, rest in rests.items() if name == model or rest.until <= now]
            self._end(account, over)

    def record_failure(
        self, account: str, model: str, error: UpstreamError, verdict: FailureClass
    ) -> None:
        """It failed: let it rest as the verdict says."""
        self._rate(account, model, -25.0)
        if not verdict.backoff and verdict.cooldown <= 0:
            return
        name = EVERY_MODEL if verdict.whole_account else model
        before = self._rests.get(account, {}).get(name)
        level = before.level if before else 0
        if verdict.backoff:
            level = min(level + 1, self._max_level)
            seconds = min(self._base * 2.0 ** min(level - 1, MOST_DOUBLINGS), self._max)
        else:
            seconds = min(verdict.cooldown, LONGEST)
        until = self._clock() + seconds
        if before is not None:
            # A call that was on its way already must not shorten what the vendor has asked for.
            until = max(until, before.until)
        rest = Cooldown(until, level, error.status, error.message)
        self._rests.setdefault(account, {})[name] = rest
        if self._publish is not None:
            self._publish(AccountRest(account, name, until, level, error.status, error.message))
        self._note(
            account,
            **{LOCK + name: iso(rest.until)},
            testStatus="unavailable",
            lastError=error.message,
            lastErrorAt=iso(self._clock()),
            errorCode=error.status,
            backoffLevel=level,
        )

    def score(self, account: str, model: str) -> float:
        """0 to 100; an account that nothing is known of has 100."""
        return self._scores.get((account, model), BEST)

    def all_active(self) -> list[tuple[str, str, Cooldown]]:
        """Account, model (or ``__all``) and rest of every account that rests now."""
        now = self._clock()
        return [
            (account, name, rest)
            for account, rests in self._rests.items()
            for name, rest in rests.items()
            if rest.until > now
        ]

    def clear(self, accounts: Iterable[str], model: str) -> None:
        """End rests by hand; ``__all`` ends every one of these accounts."""
        for account in accounts:
            names = self._rests.get(account, {})
            self._end(account, [name for name in names if model in (EVERY_MODEL, name)])

    def adopt(self, news: AccountRest | AccountScore) -> None:
        """Take up what another process has published; it notes that itself."""
        if isinstance(news, AccountScore):
            self._keep_score(news.account, news.model, news.score)
        else:
            self._adopt_rest(news)

    def _adopt_rest(self, rest: AccountRest) -> None:
        rests = self._rests.setdefault(rest.account, {})
        rests.pop(rest.model, None)
        if rest.until > self._clock():
            rests[rest.model] = Cooldown(rest.until, rest.level, rest.status, rest.reason)
        elif not rests:
            del self._rests[rest.account]

    def recall(self, accounts: Iterable[Account]) -> None:
        """Take up the rests that were noted before this start."""
        now = self._clock()
        for account in accounts:
            state = account.state
            status, level = state.get("errorCode"), state.get("backoffLevel")
            for name, value in state.items():
                until = moment(value) if name.startswith(LOCK) else None
                if until is not None and until > now:
                    rest = Cooldown(
                        until,
                        level if isinstance(level, int) else 0,
                        status if isinstance(status, int) else 503,
                        str(state.get("lastError") or "The account is resting"),
                    )
                    rests = self._rests.setdefault(account.id, {})
                    rests.setdefault(name.removeprefix(LOCK), rest)

    def take_changes(self) -> Mapping[str, Mapping[str, Any]]:
        """What is to be noted on accounts' rows since the last time."""
        notes, self._notes = self._notes, {}
        return notes

    def restore_changes(self, notes: Mapping[str, Mapping[str, Any]]) -> None:
        """Take notes back that could not be kept; what was noted since then is newer."""
        for account, members in notes.items():
            self._notes[account] = {**members, **self._notes.get(account, {})}

    def _end(self, account: str, names: Iterable[str]) -> None:
        """End some of an account's rests; without any left the account is well again."""
        rests = self._rests.get(account, {})
        for name in names:
            del rests[name]
            self._note(account, **{LOCK + name: None})
            if self._publish is not None:
                self._publish(AccountRest(account, name))
        if not rests and self._rests.pop(account, None) is not None:
            self._note(account, testStatus="active", backoffLevel=0)

    def _rate(self, account: str, model: str, change: float) -> None:
        """Change a score, within its bounds."""
        before = self.score(account, model)
        score = min(max(before + change, 0.0), BEST)
        self._keep_score(account, model, score)
        if self._publish is not None and score != before:
            self._publish(AccountScore(account, model, score, score - before))

    def _keep_score(self, account: str, model: str, score: float) -> None:
        self._scores.pop((account, model), None)
        if score < BEST:
            self._scores[account, model] = score
            if len(self._scores) > MOST_SCORES:
                del self._scores[next(iter(self._scores))]

    def _note(self, account: str, **members: Any) -> None:
        self._notes.setdefault(account, {}).update(members)


def moment(text: object) -> float | None:
    """Wall-clock seconds of an ISO time, or ``None`` for anything else."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
