"""Time series of usage: requests, errors, tokens, cost and latency, grouped by anything."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.moments import iso, local_day, seconds

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from .bodies import RowFilter, SeriesQuery
from .filters import build_filter, filter_parts
from .ledger.latency_buckets import BOUNDS, percentile
from .ledger.series import TimeSlot
from .ledger.sums import HOUR as HOUR_LENGTH
from .ledger.sums import MINUTE as MINUTE_LENGTH
from .ledger.sums import Span, Unit
from .periods import CHART, HOUR, MINUTE, every_day, midnight, named_period
from .statistics import NO_COMBO, NO_KEY, UNKNOWN, Names, dollars, key_facts
from .up_to_date import up_to_date
from .views import names_of

PATH = "/api/usage/series"
MOST_POINTS = 1500
MOST_DAYS = 4000
BY_MINUTE, BY_HOUR = 3 * HOUR, 8 * 24 * HOUR
"""Up to so many seconds, points are minutes or hours where the query leaves it open."""
_PARTS: Mapping[str, tuple[str, ...]] = {
    "provider": ("provider",),
    "model": ("model", "provider"),
    "connection": ("connection_id",),
    "apiKey": ("api_key_id",),
    "endpoint": ("endpoint",),
    "combo": ("combo_id", "combo_name"),
    "status": ("status",),
}
"""The dimensions, and the parts of a call that are needed to group by one."""


class Percentiles(Struct, frozen=True, kw_only=True):
    """Milliseconds, estimated from counts in buckets; ``null`` where nothing was measured."""

    p50: int | None
    p95: int | None
    p99: int | None


class Point(Struct, frozen=True, kw_only=True, rename="camel"):
    """Calls that ended in a stretch of time. ``cost`` is in dollars; times are those of calls
    with the status ``ok``."""

    requests: int
    errors: int
    """Those with the status ``error`` or ``upstream_cut``."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float
    unpriced_requests: int
    """Those that used tokens and have no known price; the cost is without them."""
    unpriced_tokens: int
    latency_ms: Percentiles
    """Until the end of the answer."""
    ttft_ms: Percentiles
    """Until the first byte of the answer."""


class GroupSeries(Struct, frozen=True, kw_only=True):
    """The calls of one group. ``group`` has the value of each dimension, as filters take it."""

    group: dict[str, str]
    name: str
    total: Point
    points: tuple[Point, ...]


class Series(Struct, frozen=True, kw_only=True, rename="camel"):
    """Points for the times in ``timestamps``, at which they begin (UTC).

    ``points`` and ``total`` are of all groups together; ``other`` is of those that ``groups``
    leaves out.
    """

    interval: Literal["minute", "hour", "day"]
    timestamps: tuple[str, ...]
    until: str
    """Where the last point ends."""
    total: Point
    points: tuple[Point, ...]
    groups: tuple[GroupSeries, ...]
    other: GroupSeries | None


class Timeline(Struct, frozen=True, kw_only=True):
    """The points of a series: what the ledger calls each, and when it begins, Unix seconds."""

    unit: Unit
    names: tuple[str, ...]
    starts: tuple[float, ...]
    end: float

    @property
    def span(self) -> Span:
        # "~" is greater than any name, so the last point is in the span.
        return Span(self.unit, self.names[0], f"{self.names[-1]}~")


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            up_to_date(show_series),
            "read the usage over time",
            query=SeriesQuery,
            answer=Series,
        )
    ]


async def show_series(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, SeriesQuery)
    dimensions = read_dimensions(parameters.group_by)
    timeline = await read_timeline(admin, parameters)
    by = tuple(dict.fromkeys(part for each in dimensions for part in _PARTS[each]))
    slots = await admin.reports.series.slots(
        timeline.span, filter_parts(admin, parameters).parts, by, times=True
    )
    names = await names_of(admin)

    def build() -> Response:
        def describe_parts(values: tuple[str, ...]) -> Group:
            return describe(names, dimensions, dict(zip(by, values, strict=True)))

        return json_answer(build_series(timeline, slots, parameters.limit, describe_parts))

    # In a thread: many groups over many points take longer than other requests should wait.
    return await asyncio.to_thread(build)


def read_dimensions(text: str) -> tuple[str, ...]:
    """Read the names of dimensions. Raises BadRequest."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if unknown := next((name for name in names if name not in _PARTS), None):
        raise BadRequest(f'Invalid groupBy "{unknown}": possible are {", ".join(_PARTS)}')
    return names


async def read_timeline(admin: AdminContext, parameters: SeriesQuery) -> Timeline:
    """Read from when to when, and in which steps. Raises BadRequest."""
    now = admin.core.clock()
    since, until = await _bounds(admin, parameters, now)
    unit: Unit = parameters.interval or _usual_unit(until - since)
    if unit == "day":
        days = list(every_day(local_day(since), local_day(until - 0.001)))[-MOST_DAYS:]
        return Timeline(
            unit=unit,
            names=tuple(day.isoformat() for day in days),
            starts=tuple(map(midnight, days)),
            end=midnight(days[-1].fromordinal(days[-1].toordinal() + 1)),
        )
    step, length = (MINUTE, MINUTE_LENGTH) if unit == "minute" else (HOUR, HOUR_LENGTH)
    first, last = int(since // step), int(-(-until // step))
    if last - first > MOST_POINTS:
        raise BadRequest(f"Invalid interval: there would be more than {MOST_POINTS} points")
    starts = tuple(float(number * step) for number in range(first, last))
    names = tuple(iso(start)[:length] for start in starts)
    return Timeline(unit=unit, names=names, starts=starts, end=float(last * step))


async def _bounds(admin: AdminContext, parameters: SeriesQuery, now: float) -> tuple[float, float]:
    """From when to when, Unix seconds; never beyond the running minute."""
    end = (now // MINUTE + 1) * MINUTE
    if parameters.start_date is not None or parameters.end_date is not None:
        if parameters.start_date is None:
            raise BadRequest("endDate needs a startDate")
        dates = RowFilter(start_date=parameters.start_date, end_date=parameters.end_date)
        which = build_filter(admin, dates)
        since = seconds(which.since or "")
        until = end if which.until is None else min(end, seconds(which.until))
        return min(since, until - MINUTE), until
    period = named_period(parameters.period, now, CHART)
    if period.since is not None:
        return period.since, end
    if period.first is not None:
        return midnight(period.first), end
    first = await admin.reports.first_at()
    return (min(seconds(first), now) if first else now), end


def _usual_unit(length: float) -> Unit:
    if length <= BY_MINUTE:
        return "minute"
    return "hour" if length <= BY_HOUR else "day"


class Running:
    """A point while it is added up."""

    def __init__(self) -> None:
        self.requests = self.errors = self.input = self.output = self.cached = 0
        self.cost = self.unpriced_requests = self.unpriced_tokens = 0
        self.took = [0] * len(BOUNDS)
        self.first = [0] * len(BOUNDS)

    def add(self, slot: TimeSlot) -> None:
        self.requests += slot.requests
        self.errors += slot.errors
        self.input += slot.input_tokens
        self.output += slot.output_tokens
        self.cached += slot.cached_tokens
        self.cost += slot.cost
        self.unpriced_requests += slot.unpriced_requests
        self.unpriced_tokens += slot.unpriced_tokens
        self.took = list(map(add, self.took, slot.took))
        self.first = list(map(add, self.first, slot.first))

    @property
    def point(self) -> Point:
        return Point(
            requests=self.requests,
            errors=self.errors,
            prompt_tokens=self.input,
            completion_tokens=self.output,
            cached_tokens=self.cached,
            cost=dollars(self.cost),
            unpriced_requests=self.unpriced_requests,
            unpriced_tokens=self.unpriced_tokens,
            latency_ms=_percentiles(self.took),
            ttft_ms=_percentiles(self.first),
        )


def _percentiles(counts: Sequence[int]) -> Percentiles:
    return Percentiles(
        p50=percentile(counts, 0.5), p95=percentile(counts, 0.95), p99=percentile(counts, 0.99)
    )


class Group(Struct, frozen=True):
    """The value of each dimension, and a name for people."""

    values: dict[str, str]
    name: str


def describe(names: Names, dimensions: Sequence[str], parts: Mapping[str, str]) -> Group:
    """Describe the group of calls with these parts in common."""
    values = {each: parts[_PARTS[each][0]] or _NONE.get(each, UNKNOWN) for each in dimensions}
    if "model" in dimensions:
        values.setdefault("provider", parts["provider"] or UNKNOWN)
    return Group(values, " / ".join(_name(each, values[each], parts, names) for each in dimensions))


_NONE: Mapping[str, str] = {"apiKey": NO_KEY, "combo": NO_COMBO}
"""What stands for calls without a value, where it is not ``UNKNOWN``."""


def _name(dimension: str, value: str, parts: Mapping[str, str], names: Names) -> str:
    if dimension == "provider":
        return names.providers.get(value, value)
    if dimension == "connection":
        return names.account(value)
    if dimension == "apiKey":
        return str(key_facts(None if value == NO_KEY else value, names)["key_name"])
    if dimension == "combo":
        return parts["combo_name"] or value
    return value


class Collected:
    """The points of one group, or of all."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.total = Running()
        self.points: dict[str, Running] = {}

    def add(self, slot: TimeSlot) -> None:
        self.total.add(slot)
        if slot.at not in self.points:
            self.points[slot.at] = Running()
        self.points[slot.at].add(slot)

    def listed(self, timeline: Timeline) -> tuple[Point, ...]:
        empty = Running().point
        points = {name: running.point for name, running in self.points.items()}
        return tuple(points.get(name, empty) for name in timeline.names)

    def series(self, timeline: Timeline) -> GroupSeries:
        return GroupSeries(
            group=self.group.values,
            name=self.group.name,
            total=self.total.point,
            points=self.listed(timeline),
        )


Describe = Callable[[tuple[str, ...]], Group]


def build_series(
    timeline: Timeline, slots: Sequence[TimeSlot], limit: int, describe_parts: Describe
) -> Series:
    """Put together what the ledger has for each point and group."""
    everything, others = Collected(Group({}, "All")), Collected(Group({}, "Others"))
    groups = {parts: describe_parts(parts) for parts in {slot.group for slot in slots}}
    # Two sets of parts may be one group: a combo that was renamed is one combo.
    keys = {parts: tuple(group.values.items()) for parts, group in groups.items()}
    shown = {keys[parts]: Collected(group) for parts, group in groups.items() if group.values}
    busy = Counter[tuple[tuple[str, str], ...]]()
    for slot in slots:
        busy[keys[slot.group]] += slot.requests
    order = [key for key, _ in busy.most_common(limit) if key in shown]
    shown = {key: shown[key] for key in order}
    for slot in slots:
        everything.add(slot)
        shown.get(keys[slot.group], others).add(slot)
    return Series(
        interval=timeline.unit,
        timestamps=tuple(map(iso, timeline.starts)),
        until=iso(timeline.end),
        total=everything.total.point,
        points=everything.listed(timeline),
        groups=tuple(group.series(timeline) for group in shown.values()),
        other=others.series(timeline) if shown and others.points else None,
    )
