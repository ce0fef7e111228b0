"""What the ledger says about a period, and forgetting it (A.7)."""

from functools import partial
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.moments import iso, local_day
from gateway_core.storage.stores.usage import UsageFilter
from gateway_core.storage.stores.usage_days import LAST_DAY

from ..desk import AdminContext
from ..endpoint import endpoint
from ..periods import CHART, Period, asked, began, named
from ..requests import check_members, query, read
from ..usage_chart import Bucket, buckets
from ..usage_picture import Picture, picture, sums_of
from ..usage_stats import Figures, Part

PATH = "/api/usage"
Day = Annotated[str, Meta(max_length=64)]
StatsPeriod = Literal["today", "24h", "7d", "30d", "60d", "all"]
ChartPeriod = Literal["today", "24h", "7d", "30d", "60d", "90d", "180d", "365d", "all"]


class PeriodQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """A named period, or the local days from ``startDate`` to ``endDate``, both included."""

    period: StatsPeriod = "7d"
    start_date: Day | None = None
    end_date: Day | None = None


class ChartQuery(Struct, frozen=True, kw_only=True):
    period: ChartPeriod = "7d"


class ComboRow(Figures, frozen=True, kw_only=True, rename="camel"):
    """What went through a combo to one account."""

    combo_id: str
    combo_name: str | None
    connection_id: str | None


class ComboUsage(Struct, frozen=True, kw_only=True):
    """``boundary`` is when the oldest row that is left ended."""

    mode: str = "future-only"
    boundary: str | None
    rows: tuple[ComboRow, ...]
    unattributed: Figures


class ResetBody(Struct, frozen=True, kw_only=True):
    period: StatsPeriod


class Deleted(Struct, frozen=True, kw_only=True, rename="camel"):
    success: bool = True
    deleted: int
    """Rows of the ledger."""
    deleted_details: int


class ProviderName(Struct, frozen=True):
    id: str
    name: str


class ProviderNames(Struct, frozen=True):
    providers: tuple[ProviderName, ...]


# The period is read by hand, so that a wrong one is told as it is elsewhere.


def routes(admin: AdminContext) -> list[Guarded]:
    get = partial(endpoint, admin, "GET")
    return [
        get(f"{PATH}/stats", stats, "read the usage", query=PeriodQuery, answer=Picture),
        get(
            f"{PATH}/chart",
            chart,
            "read the usage chart",
            query=ChartQuery,
            answer=tuple[Bucket, ...],
        ),
        get(
            f"{PATH}/combos",
            combos,
            "read the usage of combos",
            query=PeriodQuery,
            answer=ComboUsage,
        ),
        get(f"{PATH}/providers", providers, "read the providers in use", answer=ProviderNames),
        endpoint(
            admin,
            "POST",
            f"{PATH}/reset",
            reset,
            "delete the usage history",
            body=ResetBody,
            answer=Deleted,
            example={"period": "24h"},
        ),
    ]


def _period(admin: AdminContext, request: Request) -> Period:
    given = query(request, PeriodQuery)
    return asked(given.period, given.start_date, given.end_date, admin.core.clock())


async def stats(admin: AdminContext, request: Request) -> Response:
    return json_answer(await picture(admin, _period(admin, request)))


async def chart(admin: AdminContext, request: Request) -> Response:
    period = named(query(request, ChartQuery).period, admin.core.clock(), CHART)
    return json_answer(await buckets(admin, period))


async def combos(admin: AdminContext, request: Request) -> Response:
    """Calls through combos, by combo and account; all others are unattributed."""
    parts: dict[tuple[str, str, str], Part] = {}
    rest = Part()
    for each in await sums_of(admin, _period(admin, request)):
        place = each.combo_id, each.combo_name, each.connection_id
        (parts.setdefault(place, Part()) if each.combo_id else rest).add(each)
    rows = sorted(parts.items(), key=lambda row: (-row[1].requests, row[0]))
    return json_answer(
        ComboUsage(
            boundary=await admin.stores.reports.first_at(),
            rows=tuple(_combo_row(*place, part) for place, part in rows),
            unattributed=Figures(**rest.figures),
        )
    )


def _combo_row(combo: str, name: str, connection: str, part: Part) -> ComboRow:
    return ComboRow(
        combo_id=combo, combo_name=name or None, connection_id=connection or None, **part.figures
    )


async def providers(admin: AdminContext, request: Request) -> Response:
    known = admin.tables.registry.providers
    found = tuple(
        ProviderName(one, known[one].name if one in known else one)
        for one in await admin.stores.reports.days.providers()
    )
    return json_answer(ProviderNames(found))


async def reset(admin: AdminContext, request: Request) -> Response:
    """Delete the history of a period; limits that look back see less from then on."""
    body = await read(request, dict[str, Any])
    check_members(body, ResetBody.__struct_encode_fields__)
    name = str(body.get("period"))
    period = named(name, admin.core.clock())
    since, days = _stretch(period)
    await admin.audit(request, "usage.reset", name)
    async with admin.writing():
        await admin.core.ledger.flush()
        deleted = await admin.stores.reports.delete(UsageFilter(since=since), *days)
        admin.core.limits.forget()
        details = await admin.stores.request_details.delete(since)
    return json_answer(Deleted(deleted=deleted, deleted_details=details))


def _stretch(period: Period) -> tuple[str | None, tuple[str, str]]:
    """From when on rows go, and the days they may be of."""
    if period.since is not None:
        return iso(period.since), (local_day(period.since).isoformat(), LAST_DAY)
    if period.first is None:
        return None, ("", LAST_DAY)
    return began(period.first), (period.first.isoformat(), LAST_DAY)
