"""One group, ready for use: which keys are in it, and what its limits say."""

from operator import attrgetter

from msgspec import Struct

from gateway_core.contracts.errors import LimitExceeded
from gateway_core.identity.globs import glob
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import Policy, read
from gateway_core.metering.limits import (
    COST,
    TOKENS,
    WINDOWS,
    KeyLimits,
    Window,
    dollars,
    limit_message,
)
from gateway_core.storage.stores.key_usage import NOTHING, KeySpent, Spending

from .settings import KeyGroup

CODE = "group_limit_exceeded"
MICRO = 1_000_000
LEDGER_ID = "group:"
"""Before a group's name, where its minutes are counted; no key has such an id."""


class Limit(Struct, frozen=True):
    """One limit of a group."""

    window: Window
    """Its ``span`` is ``ever`` for a lifetime."""
    span: str
    most: int
    """Money in millionths of a dollar."""

    def used(self, spent: KeySpent) -> int:
        return self.window.used(getattr(spent, self.span))

    def until(self, limits: KeyLimits, now: float) -> float | None:
        """Seconds until it begins anew; ``None`` for a lifetime."""
        return None if self.span == "ever" else limits.resets_at(self.window.span) - now


DAILY_BUDGET = Window(
    "dailyBudget", attrgetter("daily_budget"), "today", "daily budget", COST, is_money=True
)
LIFETIME = (
    Window("maxTokens", attrgetter("max_tokens"), "month", "lifetime tokens", TOKENS),
    Window("maxCostUsd", attrgetter("max_cost"), "month", "lifetime cost", COST, is_money=True),
)


class Group:
    """A group in force."""

    def __init__(self, settings: KeyGroup) -> None:
        self.name, self.reserve = settings.name, settings.reserve
        policy = read(settings.policy, settings.daily_limit_tokens)
        self.limits = limits_of(settings, policy)
        self.has_money = any(limit.window.is_money for limit in self.limits)
        self.minute = _minute(settings.name, policy)
        """What the limits by the minute are counted for; ``None`` without any."""
        self._matches = tuple(map(glob, settings.keys))

    def has(self, key_id: str, key_name: str) -> bool:
        """Whether a key is in it."""
        return any(matches(key_id) or matches(key_name) for matches in self._matches)

    def reached(
        self, spent: KeySpent, held: Spending = NOTHING, more: Spending = NOTHING
    ) -> tuple[Limit, bool] | None:
        """The first limit in the way, and whether it is only what others have reserved.

        Without ``more`` a limit that is used up is in the way; with it, one that would be passed.
        """
        for limit in self.limits:
            used, reserved = limit.used(spent), limit.window.used(held)
            added = limit.window.used(more)
            if used >= limit.most or used + reserved + added > limit.most:
                return limit, used + added <= limit.most and used < limit.most
        return None

    def refused(
        self, limit: Limit, spent: KeySpent, held: Spending, more: Spending, until: float | None
    ) -> LimitExceeded:
        """The refusal for a limit. ``until`` is when it ends, in seconds from now."""
        used, window = limit.used(spent), limit.window
        if used < limit.most:
            shown = [self._shown(window, n) for n in (window.used(more), used, window.used(held))]
            text = (
                f"{window.label} limit would be passed: this call may take {shown[0]}, {shown[1]} "
                f"of {self._shown(window, limit.most)} is used and {shown[2]} reserved."
            )
        elif limit.span == "ever":
            most = self._shown(window, limit.most)
            text = f"{window.label} limit reached ({self._shown(window, used)}/{most})"
        else:
            text = limit_message(window, used, limit.most)
        return self.worded(LimitExceeded(text, retry_after=until))

    def worded(self, error: LimitExceeded) -> LimitExceeded:
        """A refusal with the group's name in the place of the key's."""
        text = error.message.removeprefix("API key ")
        return LimitExceeded(
            f'Group "{self.name}": {text}', retry_after=error.retry_after, code=CODE
        )

    @staticmethod
    def _shown(window: Window, amount: int) -> str:
        return f"${dollars(amount)}" if window.is_money else str(amount)


def limits_of(settings: KeyGroup, policy: Policy) -> tuple[Limit, ...]:
    """The limits by day, month and life, in the order in which they are checked."""
    lifetime = ((window, window.limit(policy)) for window in LIFETIME)
    windows = ((window, window.limit(policy)) for window in WINDOWS)
    daily = round(settings.daily_budget * MICRO)
    return (
        *(Limit(window, "ever", most) for window, most in lifetime if most is not None),
        *((Limit(DAILY_BUDGET, "today", daily),) if daily else ()),
        *(Limit(window, window.span, most) for window, most in windows if most is not None),
    )


def _minute(name: str, policy: Policy) -> Key | None:
    if policy.rpm is None and policy.tpm is None:
        return None
    return Key(
        id=LEDGER_ID + name,
        name=name,
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=Policy(rpm=policy.rpm, tpm=policy.tpm),
        connections=frozenset(),
        has_limits=True,
        is_restricted=True,
    )
