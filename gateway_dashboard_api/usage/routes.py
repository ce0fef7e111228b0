"""Usage of a period as sums, rows and events, and deleting it (A.7)."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import STREAM, Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.moments import iso, local_day
from gateway_core.storage.stores.usage import UsageFilter

from ..admin_context import AdminContext
from ..endpoint import Handler, endpoint
from ..requests import check_members, read_json, read_query
from ..streams import Frames
from .bodies import ChartQuery, HistoryQuery, PeriodQuery, ResetBody, RowFilter, StreamQuery
from .chart import Bucket, buckets
from .feeds import Feeds
from .filters import build_filter, filter_parts
from .ledger.sums import LAST_DAY
from .overview import Picture, build_overview, sums_of
from .periods import CHART, Period, day_start, named_period, read_period
from .statistics import Figures, Part
from .up_to_date import up_to_date
from .views import (
    ComboRow,
    ComboUsage,
    Deleted,
    History,
    ProviderName,
    ProviderNames,
    history_row,
    log_line,
    names_of,
)

PATH = "/api/usage"
LINES = 200


def routes(admin: AdminContext) -> list[Guarded]:
    get = partial(endpoint, admin, "GET")
    lines = partial(
        get,
        handler=up_to_date(show_logs),
        purpose="read the usage logs",
        query=RowFilter,
        answer=tuple[str, ...],
    )
    feeds = Feeds(admin)

    async def stream(admin: AdminContext, request: Request) -> Response:
        return Frames(feeds.watch(read_query(request, StreamQuery).period))

    def read(name: str, handler: Handler, purpose: str, **declared: Any) -> Guarded:
        return get(f"{PATH}/{name}", up_to_date(handler), purpose, **declared)

    reset = partial(
        endpoint, admin, "POST", f"{PATH}/reset", reset_usage, "delete the usage history"
    )
    live = partial(get, f"{PATH}/stream", stream, "stream the usage")
    chart = partial(read, "chart", show_chart, "read the usage chart")
    combos, providers = "read the usage of combos", "read the providers in use"
    return [
        read("stats", show_stats, "read the usage", query=PeriodQuery, answer=Picture),
        chart(query=ChartQuery, answer=tuple[Bucket, ...]),
        read("combos", show_combos, combos, query=PeriodQuery, answer=ComboUsage),
        read("providers", list_providers, providers, answer=ProviderNames),
        reset(body=ResetBody, answer=Deleted, example={"period": "24h"}),
        read("history", show_history, "read the usage history", query=HistoryQuery, answer=History),
        lines(f"{PATH}/logs"),
        lines(f"{PATH}/request-logs"),
        live(query=StreamQuery, answer=Picture, media=STREAM),
    ]


def _period(admin: AdminContext, parameters: PeriodQuery) -> Period:
    return read_period(
        parameters.period, parameters.start_date, parameters.end_date, admin.core.clock()
    )


async def show_stats(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, PeriodQuery)
    return json_answer(await build_overview(admin, _period(admin, parameters), parameters))


async def show_chart(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, ChartQuery)
    period = named_period(parameters.period, admin.core.clock(), CHART)
    return json_answer(await buckets(admin, period, filter_parts(admin, parameters).parts))


async def show_combos(admin: AdminContext, request: Request) -> Response:
    """Show calls through combos, by combo and account; all others are unattributed."""
    parameters = read_query(request, PeriodQuery)
    parts: dict[tuple[str, str, str], Part] = {}
    unattributed = Part()
    for each in await sums_of(admin, _period(admin, parameters), parameters):
        group = each.combo_id, each.combo_name, each.connection_id
        (parts.setdefault(group, Part()) if each.combo_id else unattributed).add(each)
    rows = sorted(parts.items(), key=lambda row: (-row[1].requests, row[0]))
    return json_answer(
        ComboUsage(
            boundary=await admin.reports.first_at(),
            rows=tuple(
                ComboRow(
                    combo_id=combo,
                    combo_name=name or None,
                    connection_id=connection or None,
                    **part.figures,
                )
                for (combo, name, connection), part in rows
            ),
            unattributed=Figures(**unattributed.figures),
        )
    )


async def list_providers(admin: AdminContext, request: Request) -> Response:
    known = (await names_of(admin)).providers
    names = tuple(
        ProviderName(provider, known.get(provider, provider))
        for provider in await admin.reports.providers()
    )
    return json_answer(ProviderNames(names))


async def reset_usage(admin: AdminContext, request: Request) -> Response:
    """Delete the history of a period; limits that look back count less from then on."""
    body = await read_json(request, dict[str, Any])
    check_members(body, ResetBody.__struct_encode_fields__)
    name = str(body.get("period"))
    period = named_period(name, admin.core.clock())
    since, days = _stretch(period)
    await admin.audit(request, "usage.reset", name)
    async with admin.writing():
        await admin.core.ledger.flush()
        deleted = await admin.reports.delete(UsageFilter(since=since), *days)
        admin.core.limits.forget()
        details = await admin.own_stores.request_details.delete(since)
    return json_answer(Deleted(deleted=deleted, deleted_details=details))


def _stretch(period: Period) -> tuple[str | None, tuple[str, str]]:
    """Return the time from which rows are deleted, and the days they belong to."""
    if period.since is not None:
        return iso(period.since), (local_day(period.since).isoformat(), LAST_DAY)
    if period.first is None:
        return None, ("", LAST_DAY)
    return day_start(period.first), (period.first.isoformat(), LAST_DAY)


async def show_history(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, HistoryQuery)
    chosen, reports = build_filter(admin, parameters), admin.reports
    total = await reports.count(chosen)
    page = await reports.page(chosen, limit=parameters.limit, offset=parameters.offset)
    names = await names_of(admin)
    rows = tuple(history_row(row, names) for row in page)
    return json_answer(
        History(rows=rows, total=total, limit=parameters.limit, offset=parameters.offset)
    )


async def show_logs(admin: AdminContext, request: Request) -> Response:
    chosen = build_filter(admin, read_query(request, RowFilter))
    rows = await admin.reports.page(chosen, limit=LINES)
    names = await names_of(admin)
    return json_answer([log_line(row, names) for row in rows])
