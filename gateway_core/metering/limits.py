"""How much a key may use: sliding minutes, local days and months, and caps for its whole life.

```text
requests a minute    counted here, when a call is admitted
tokens a minute      counted here, when a call's usage is known
days, months, life   sums of the ledger, read from the database and updated here
```

A call that was admitted may end above a limit; the next one is refused. The
sums are read again every ten seconds, so that what other processes wrote, or
an operator deleted, is seen. Where a plugin keeps a state that processes share,
it counts the minutes for all of them.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import tzinfo
from operator import attrgetter as get
from typing import Literal

from msgspec import Struct

from ..contracts.errors import LimitExceeded, Unavailable
from ..contracts.shared_state import LimitReached, SharedLimits, SharedState
from ..identity.keys import Key
from ..identity.policy import Policy
from ..storage.moments import next_midnight, next_month
from ..storage.stores.key_usage import KeySpent, Spending, used_by
from ..storage.stores.usage import UsageRecord
from .timestamps import Timestamps

MINUTE = 60.0
RELOAD_AFTER = 10.0
"""Seconds after which the sums are read again."""
MICRO = 1_000_000

ReadSpent = Callable[[str, str], Awaitable[KeySpent]]
Span = Literal["today", "month"]
TOKENS, INPUT, OUTPUT = get("tokens"), get("input_tokens"), get("output_tokens")
REQUESTS, COST = get("requests"), get("cost")
"""What is summed of ``Spending``."""


class Window(Struct, frozen=True):
    """One windowed limit: its name in the policy, in words, and what is summed for it."""

    field: str
    limit: Callable[[Policy], int | None]
    span: Span
    label: str
    used: Callable[[Spending], int]
    is_money: bool = False


WINDOWS = (
    Window("dailyLimitTokens", get("daily_tokens"), "today", "daily tokens", TOKENS),
    Window("dailyInputTokenLimit", get("daily_input"), "today", "daily input tokens", INPUT),
    Window("dailyOutputTokenLimit", get("daily_output"), "today", "daily output tokens", OUTPUT),
    Window("monthlyTokenLimit", get("monthly_tokens"), "month", "monthly tokens", TOKENS),
    Window("monthlyInputTokenLimit", get("monthly_input"), "month", "monthly input tokens", INPUT),
    Window(
        "monthlyOutputTokenLimit", get("monthly_output"), "month", "monthly output tokens", OUTPUT
    ),
    Window("monthlyRequestLimit", get("monthly_requests"), "month", "monthly requests", REQUESTS),
    Window("monthlyBudget", get("monthly_budget"), "month", "monthly budget", COST, is_money=True),
)
DAILY_TOTAL = WINDOWS[0]


class Count:
    """The known use of one key."""

    __slots__ = ("loaded_at", "policy", "requests", "spent", "tokens", "tokens_sum", "windows")

    def __init__(self) -> None:
        self.spent = KeySpent(day="")
        self.loaded_at: float | None = None
        """Monotonic; ``None`` before the sums were read, and after they were invalidated."""
        self.requests: deque[float] = deque()
        """Monotonic times of the calls admitted during the last minute."""
        self.tokens: deque[tuple[float, int]] = deque()
        self.tokens_sum = 0
        self.policy: Policy | None = None
        self.windows: tuple[tuple[Window, int], ...] = ()
        """The windows that this policy limits, each with its limit."""

    def limited_windows(self, policy: Policy) -> tuple[tuple[Window, int], ...]:
        """The windows that a policy limits; most limit one or two, so they are kept with it."""
        if policy is not self.policy:
            limits = ((window, window.limit(policy)) for window in WINDOWS)
            self.windows = tuple((window, limit) for window, limit in limits if limit is not None)
            self.policy = policy
        return self.windows

    def slide(self, now: float) -> None:
        """Drop what is older than a minute."""
        while self.requests and self.requests[0] <= now - MINUTE:
            self.requests.popleft()
        while self.tokens and self.tokens[0][0] <= now - MINUTE:
            self.tokens_sum -= self.tokens.popleft()[1]

    def add(self, used: Spending, day: str, now: float) -> None:
        """Add the use of a finished call."""
        self.tokens.append((now, used.tokens))
        self.tokens_sum += used.tokens
        self.spent = self.spent.plus(used, day)


class KeyLimits:
    """Admits calls, or refuses them with the limit that is reached."""

    def __init__(
        self,
        read: ReadSpent,
        still: Callable[[], AbstractAsyncContextManager[None]],
        unwritten: Callable[[], Iterable[tuple[str, str, Spending]]],
        clock: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
        zone: tzinfo | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """``still`` keeps the ledger from writing while the sums are read; ``unwritten`` gives
        what it has still to write: key id, local day, what was used."""
        self._read = read
        self._still = still
        self._unwritten = unwritten
        self._clock = clock
        self._monotonic = monotonic
        self._zone = zone
        self._shared = shared
        self._timestamps = Timestamps(zone)
        self._counts: dict[str, Count] = {}
        self._loading = asyncio.Lock()

    async def admit(self, key: Key) -> None:
        """Admit one call and count it, in one step. Raises LimitExceeded, Unavailable."""
        if self.admit_now(key):
            return
        count = await self._load(key.id)
        if self._shared is None or not _is_by_minute(key.policy):
            self._count_in(key, count)
            return
        self._check_sums(key.policy, count)
        limits = SharedLimits(requests=key.policy.rpm, tokens=key.policy.tpm)
        reached = await self._shared.admit(_name(key.id), limits)
        if reached is not None:
            raise _exceeded(key.policy, reached)
        count.slide(self._monotonic())
        count.requests.append(self._monotonic())

    def admit_now(self, key: Key) -> bool:
        """The same; false, and nothing is counted, where something has to be waited for: the
        sums, or what other processes have admitted."""
        count = self._counts.get(key.id)
        if count is None or self._is_stale(count):
            return False
        if self._shared is not None and _is_by_minute(key.policy):
            return False
        self._count_in(key, count)
        return True

    async def check(self, key: Key) -> None:
        """See whether a call would be admitted, and count nothing. Raises LimitExceeded,
        Unavailable."""
        count = await self.count_of(key.id)
        self._check_sums(key.policy, count)
        self._check_minute(key.policy, count, self._monotonic())

    def withdraw(self, key: Key) -> None:
        """Take back the admission of the last call, which is not made."""
        self._counts[key.id].requests.pop()
        if self._shared is not None and _is_by_minute(key.policy):
            self._shared.withdraw(_name(key.id))

    def _count_in(self, key: Key, count: Count) -> None:
        self._check_sums(key.policy, count)
        now = self._monotonic()
        count.slide(now)
        self._check_minute(key.policy, count, now)
        count.requests.append(now)

    async def spent(self, key_id: str) -> KeySpent:
        """What a key has used up to this moment, for looking at it. Raises what the database
        raises."""
        async with self._still():
            return await self._sum(key_id, self.today())

    async def count_of(self, key_id: str) -> Count:
        """What a key has used, up to date. Raises what the database raises."""
        count = self._counts.get(key_id)
        if count is None or self._is_stale(count):
            count = await self._load(key_id)
        count.slide(self._monotonic())
        return count

    def record(self, row: UsageRecord) -> None:
        """Count a finished call, if its key is counted."""
        count = self._counts.get(row.api_key_id or "")
        if count is not None and row.attempts > 0:
            now = self._monotonic()
            used = used_by(row)
            count.add(used, row.day, now)
            count.slide(now)
            if self._shared is not None and count.policy is not None and count.policy.tpm:
                self._shared.record(_name(row.api_key_id or ""), used.tokens)

    def forget(self) -> None:
        """Invalidate the sums: the ledger was changed."""
        for count in self._counts.values():
            count.loaded_at = None

    def today(self) -> str:
        return self._timestamps.day(self._clock())

    def resets_at(self, span: Span) -> float:
        """When a window begins anew, Unix seconds."""
        until = next_midnight if span == "today" else next_month
        return until(self._clock(), self._zone)

    def _is_stale(self, count: Count) -> bool:
        if count.loaded_at is None or count.spent.day != self.today():
            return True
        return self._monotonic() - count.loaded_at > RELOAD_AFTER

    async def _load(self, key_id: str) -> Count:
        """Read the sums. Old ones of this day stand in when the database does not answer."""
        async with self._loading:
            count = self._counts.get(key_id) or Count()
            if not self._is_stale(count):
                return count
            day = self.today()
            try:
                async with self._still():
                    count.spent = await self._sum(key_id, day)
                    self._counts[key_id] = count
            except Exception:
                if count.spent.day != day:
                    raise Unavailable("Database temporarily unavailable") from None
            count.loaded_at = self._monotonic()
            return count

    async def _sum(self, key_id: str, day: str) -> KeySpent:
        """The sums of the database and of what waits. To be called while the ledger is still: a
        row that it writes meanwhile would be counted twice, or not at all."""
        spent = await self._read(key_id, day)
        for other, its_day, used in self._unwritten():
            if other == key_id:
                spent = spent.plus(used, its_day)
        return spent

    def _check_sums(self, policy: Policy, count: Count) -> None:
        """Raise LimitExceeded for the first limit of a day, month or life that is reached."""
        ever = count.spent.ever
        if policy.max_tokens is not None and ever.tokens >= policy.max_tokens:
            raise LimitExceeded(
                f"API key token limit reached ({ever.tokens}/{policy.max_tokens} tokens)"
            )
        if policy.max_cost is not None and ever.cost >= policy.max_cost:
            raise LimitExceeded(
                f"API key cost limit reached (${dollars(ever.cost)}/${dollars(policy.max_cost)})"
            )
        for window, limit in count.limited_windows(policy):
            used = window.used(getattr(count.spent, window.span))
            if used >= limit:
                raise LimitExceeded(
                    limit_message(window, used, limit),
                    retry_after=self.resets_at(window.span) - self._clock(),
                )

    def _check_minute(self, policy: Policy, count: Count, now: float) -> None:
        if policy.tpm is not None and count.tokens_sum >= policy.tpm:
            # The next call is admitted when enough of the tokens have left the minute.
            leaves_from, left = now, count.tokens_sum
            for moment, tokens in count.tokens:
                leaves_from, left = moment, left - tokens
                if left < policy.tpm:
                    break
            wait = leaves_from + MINUTE - now
            raise _exceeded(policy, LimitReached("tokens", count.tokens_sum, wait))
        if policy.rpm is not None and len(count.requests) >= policy.rpm:
            oldest = count.requests[len(count.requests) - policy.rpm]
            wait = oldest + MINUTE - now
            raise _exceeded(policy, LimitReached("requests", policy.rpm, wait))


def _is_by_minute(policy: Policy) -> bool:
    return policy.rpm is not None or policy.tpm is not None


def _name(key_id: str) -> str:
    return f"key:{key_id}"


def _exceeded(policy: Policy, reached: LimitReached) -> LimitExceeded:
    text = f"API key rate limit exceeded ({policy.rpm} requests/minute)."
    if reached.limit == "tokens":
        text = f"API key token rate limit exceeded ({reached.used}/{policy.tpm} tokens/minute)."
    return LimitExceeded(text, retry_after=reached.wait)


def limit_message(window: Window, used: int, limit: int) -> str:
    """The sentence for a window that is used up."""
    if window is DAILY_TOTAL:
        return f"API key daily token limit exceeded ({used}/{limit} tokens)"
    shown = (dollars(used), dollars(limit)) if window.is_money else (used, limit)
    end = "at local midnight" if window.span == "today" else "on the 1st of next month"
    return f"API key {window.label} limit reached ({shown[0]}/{shown[1]}). Resets {end}."


def dollars(micro: int) -> str:
    """Millionths of a dollar as dollars: ``1.5``, ``0.000042``."""
    text = f"{micro // MICRO}.{micro % MICRO:06d}"
    return text.rstrip("0").rstrip(".")
