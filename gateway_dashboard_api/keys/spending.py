"""The usage of keys compared with their limits: one row for each limit (P.3)."""

from msgspec import Struct

from gateway_core.identity.policy import Policy, read
from gateway_core.metering.limits import WINDOWS, KeyLimits, Span, Window
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.key_usage import KeySpent, Spending
from gateway_core.storage.stores.keys import ApiKey

from .views import MICRO

Number = int | float


class Rate(Struct, frozen=True, kw_only=True, rename="camel"):
    """A sliding minute; a ``limit`` of ``None`` is none."""

    used: int
    limit: int | None


class LimitRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """One limit. Money is in dollars."""

    field: str
    """Its name in the key or its policy."""
    label: str
    money: bool
    always: bool
    """Whether the use is worth showing without a limit."""
    used: Number
    limit: Number | None
    reset_at: str | None
    """UTC ISO text; ``None`` for a cap on the whole life."""


class Sum(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was used in a window. The cost is in dollars."""

    requests: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost: float
    unpriced_requests: int
    """Calls whose price is not known, which ``cost`` lacks."""
    unpriced_tokens: int


class KeySpending(Struct, frozen=True, kw_only=True, rename="camel"):
    """One key's use, now."""

    rpm: Rate
    tpm: Rate
    limits: tuple[LimitRow, ...]
    today: Sum
    month: Sum


class DayStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """The cap of a calendar day, in tokens."""

    used: int
    limit: int | None
    remaining: int | None
    reset_at: str


async def read_spending(limits: KeyLimits, key: ApiKey) -> KeySpending:
    """Read what a key has used. Raises Unavailable."""
    policy = read(key.policy, key.daily_limit_tokens)
    count = await limits.count_of(key.id)
    spent = count.spent
    windows = (_window(limits, window, policy, spent) for window in WINDOWS)
    return KeySpending(
        rpm=Rate(used=len(count.requests), limit=policy.rpm),
        tpm=Rate(used=count.tokens_sum, limit=policy.tpm),
        limits=(*windows, *_lifetime(policy, spent.ever)),
        today=sum_of(spent.today),
        month=sum_of(spent.month),
    )


def day_status(limits: KeyLimits, key: ApiKey, spent: KeySpent) -> DayStatus:
    used, limit = spent.today.tokens, key.daily_limit_tokens
    return DayStatus(
        used=used,
        limit=limit,
        remaining=None if limit is None else max(0, limit - used),
        reset_at=_reset(limits, "today"),
    )


def sum_of(spent: Spending) -> Sum:
    return Sum(
        requests=spent.requests,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        total_tokens=spent.tokens,
        cost=spent.cost / MICRO,
        unpriced_requests=spent.unpriced_requests,
        unpriced_tokens=spent.unpriced_tokens,
    )


def _window(limits: KeyLimits, window: Window, policy: Policy, spent: KeySpent) -> LimitRow:
    used, limit = window.used(getattr(spent, window.span)), window.limit(policy)
    return LimitRow(
        field=window.field,
        label=window.label,
        money=window.is_money,
        always=False,
        used=used / MICRO if window.is_money else used,
        limit=limit / MICRO if window.is_money and limit is not None else limit,
        reset_at=_reset(limits, window.span),
    )


def _lifetime(policy: Policy, ever: Spending) -> tuple[LimitRow, LimitRow]:
    cost = None if policy.max_cost is None else policy.max_cost / MICRO
    tokens = LimitRow(
        field="maxTokens",
        label="lifetime tokens",
        money=False,
        always=True,
        used=ever.tokens,
        limit=policy.max_tokens,
        reset_at=None,
    )
    money = LimitRow(
        field="maxCostUsd",
        label="lifetime cost",
        money=True,
        always=True,
        used=ever.cost / MICRO,
        limit=cost,
        reset_at=None,
    )
    return tokens, money


def _reset(limits: KeyLimits, span: Span) -> str:
    return iso(limits.resets_at(span))


class KeyUsage(Struct, frozen=True):
    usage: dict[str, KeySpending]
    """By key id."""
