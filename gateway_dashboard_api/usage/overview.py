"""The overview of a period, as the dashboard's front page shows it."""

from collections.abc import Mapping

from msgspec import Struct

from gateway_core.metering.in_flight import Waiting
from gateway_core.storage.moments import iso, seconds
from gateway_core.storage.stores.usage import UsageRow

from ..admin_context import AdminContext
from .bodies import PartFilter
from .filters import filter_period
from .ledger.hours import LAST
from .ledger.reports import Which
from .ledger.sums import MINUTE as LENGTH
from .ledger.sums import Span, Sums
from .periods import MINUTE, Period
from .statistics import Stats, dollars, label_model, summarize
from .views import names_of

MINUTES = 10
RECENT = 20
FRESH = 10.0
"""Seconds for which a failed call marks its provider."""
ALL_CALLS = PartFilter()


class Moment(Struct, frozen=True, kw_only=True, rename="camel"):
    """One minute. ``cost`` is in dollars."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced_requests: int
    unpriced_tokens: int


class Active(Struct, frozen=True, kw_only=True):
    """Requests that are on their way; ``account`` is a name."""

    model: str
    provider: str
    account: str
    count: int


class Recent(Struct, frozen=True, kw_only=True, rename="camel"):
    timestamp: str
    model: str | None
    provider: str | None
    prompt_tokens: int
    completion_tokens: int
    status: str


class Pending(Struct, frozen=True, kw_only=True, rename="camel"):
    """Requests on their way, by model, and by account and model."""

    by_model: dict[str, int]
    by_account: dict[str, dict[str, int]]


class Picture(Stats, frozen=True, kw_only=True, rename="camel"):
    """A period's sums, the last ten minutes, the newest calls and those on their way."""

    last10_minutes: tuple[Moment, ...]
    pending: Pending
    active_requests: tuple[Active, ...]
    recent_requests: tuple[Recent, ...]
    error_provider: str
    """Whose newest call has just failed; else an empty text."""


async def build_overview(
    admin: AdminContext, period: Period, parameters: PartFilter = ALL_CALLS
) -> Picture:
    """Compute the overview of a period; a filter applies to its sums only."""
    names = await names_of(admin)
    now = admin.core.clock()
    recent = await admin.reports.page(Which(), limit=RECENT)
    waiting = admin.core.in_flight.groups()
    return Picture(
        **summarize(await sums_of(admin, period, parameters), names),
        last10_minutes=await last_minutes(admin, now),
        pending=count_pending(waiting),
        active_requests=tuple(
            Active(
                model=request.model,
                provider=request.provider,
                account=names.account(request.account),
                count=count,
            )
            for request, count in waiting.items()
        ),
        recent_requests=tuple(map(_recent, recent)),
        error_provider=_troubled(recent, now),
    )


async def sums_of(
    admin: AdminContext, period: Period, parameters: PartFilter = ALL_CALLS
) -> list[Sums]:
    return await admin.reports.sums(filter_period(admin, parameters, period))


async def last_minutes(admin: AdminContext, now: float) -> tuple[Moment, ...]:
    """Return the running minute and the nine before it, oldest first."""
    first = (now // MINUTE - MINUTES + 1) * MINUTE
    span = Span("minute", iso(first)[:LENGTH], LAST)
    rows = {row.at: row for row in await admin.reports.series.slots(span)}
    moments = []
    for number in range(MINUTES):
        row = rows.get(iso(first + MINUTE * number)[:LENGTH])
        moment = Moment(
            requests=row.requests if row else 0,
            prompt_tokens=row.input_tokens if row else 0,
            completion_tokens=row.output_tokens if row else 0,
            cost=dollars(row.cost) if row else 0,
            unpriced_requests=row.unpriced_requests if row else 0,
            unpriced_tokens=row.unpriced_tokens if row else 0,
        )
        moments.append(moment)
    return tuple(moments)


def count_pending(waiting: Mapping[Waiting, int]) -> Pending:
    by_model: dict[str, int] = {}
    by_account: dict[str, dict[str, int]] = {}
    for request, count in waiting.items():
        label = label_model(request.model, request.provider)
        by_model[label] = by_model.get(label, 0) + count
        models = by_account.setdefault(request.account, {})
        models[label] = models.get(label, 0) + count
    return Pending(by_model=by_model, by_account=by_account)


def _recent(row: UsageRow) -> Recent:
    return Recent(
        timestamp=row.finished_at,
        model=row.model_sent or row.model_asked,
        provider=row.provider,
        prompt_tokens=row.input_tokens,
        completion_tokens=row.output_tokens,
        status=row.status,
    )


def _troubled(recent: list[UsageRow], now: float) -> str:
    """Return the provider of the newest call if that failed just now, else an empty text."""
    if not recent or recent[0].status not in ("error", "upstream_cut"):
        return ""
    is_fresh = now - seconds(recent[0].finished_at) < FRESH
    return (recent[0].provider or "") if is_fresh else ""
