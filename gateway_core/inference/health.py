"""Which accounts are resting, and for how long.

A rest is for one account and one model, or for the whole account. It is kept
in memory and noted on the account's row by the ledger's writer, so that a
restart does not forget it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..config.environment import Environment
from ..contracts.errors import UpstreamError
from ..storage.moments import iso
from .tables import Account
from .verdicts import Verdict

EVERY_MODEL = "__all"
LOCK = "modelLock_"


@dataclass(slots=True)
class Rest:
    """Until when an account rests for one model, and why."""

    until: float
    """Wall clock, seconds."""
    level: int
    status: int
    reason: str


class Health:
    """Cooldowns by account and model, and scores by account."""

    def __init__(self, environment: Environment, clock: Callable[[], float]) -> None:
        self._base = environment.backoff_base_ms / 1000
        self._max = environment.backoff_max_ms / 1000
        self._max_level = environment.backoff_max_level
        self._clock = clock
        self._rests: dict[tuple[str, str], Rest] = {}
        self._scores: dict[tuple[str, str], float] = {}
        self._notes: dict[str, dict[str, Any]] = {}

    def resting(self, account: str, model: str) -> Rest | None:
        """The rest that keeps this account from this model now, if any."""
        if not self._rests:
            return None
        now, found = self._clock(), None
        for name in (model, EVERY_MODEL):
            rest = self._rests.get((account, name))
            if rest is not None and rest.until > now and (not found or rest.until > found.until):
                found = rest
        return found

    def praise(self, account: str, model: str) -> None:
        """It answered: end its rest and let its level fall to zero."""
        score = self._scores.get((account, model))
        if score is not None:
            self._scores[account, model] = min(100.0, score + 10.0)
        if self._rests and self._rests.pop((account, model), None) is not None:
            if not any(key[0] == account for key in self._rests):
                self._note(account, testStatus="active", backoffLevel=0)
            self._note(account, **{LOCK + model: None})

    def blame(self, account: str, model: str, error: UpstreamError, verdict: Verdict) -> None:
        """It failed: let it rest as the verdict says."""
        score = self._scores.get((account, model), 100.0)
        self._scores[account, model] = max(0.0, score - 25.0)
        if not verdict.backoff and verdict.cooldown <= 0:
            return
        name = EVERY_MODEL if verdict.whole_account else model
        before = self._rests.get((account, name))
        level = min((before.level if before else 0) + 1, self._max_level) if verdict.backoff else 0
        seconds = (
            min(self._base * 2 ** (level - 1), self._max) if verdict.backoff else verdict.cooldown
        )
        rest = Rest(self._clock() + seconds, level, error.status, error.message)
        self._rests[account, name] = rest
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
        return self._scores.get((account, model), 100.0)

    def all_resting(self) -> list[tuple[str, str, Rest]]:
        """Account, model (or ``__all``) and rest of every account that rests now."""
        now = self._clock()
        return [(*key, rest) for key, rest in self._rests.items() if rest.until > now]

    def clear(self, accounts: Iterable[str], model: str) -> None:
        """End rests by hand; ``__all`` ends every one of these accounts."""
        for account in accounts:
            for key in [k for k in self._rests if k[0] == account]:
                if model in (EVERY_MODEL, key[1]):
                    del self._rests[key]
                    self._note(account, **{LOCK + key[1]: None})

    def recall(self, accounts: Iterable[Account]) -> None:
        """Take up the rests that were noted before this start."""
        now = self._clock()
        for account in accounts:
            for name, value in account.state.items():
                until = moment(value) if name.startswith(LOCK) else None
                if until is not None and until > now:
                    key = (account.id, name.removeprefix(LOCK))
                    self._rests.setdefault(key, self._remembered(account, until))

    def take_notes(self) -> Mapping[str, Mapping[str, Any]]:
        """What is to be noted on accounts' rows since the last time."""
        notes, self._notes = self._notes, {}
        return notes

    def _remembered(self, account: Account, until: float) -> Rest:
        state = account.state
        status, level = state.get("errorCode"), state.get("backoffLevel")
        return Rest(
            until,
            level if isinstance(level, int) else 0,
            status if isinstance(status, int) else 503,
            str(state.get("lastError") or "The account is resting"),
        )

    def _note(self, account: str, **members: Any) -> None:
        self._notes.setdefault(account, {}).update(members)


def moment(text: object) -> float | None:
    """Wall-clock seconds of an ISO time, or ``None`` for anything else."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
