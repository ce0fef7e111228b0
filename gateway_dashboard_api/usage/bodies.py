"""The bodies and queries of requests about usage."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway_core.storage.stores.usage import Status

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


class ResetBody(Struct, frozen=True, kw_only=True):
    period: StatsPeriod


Word = Annotated[str, Meta(max_length=256, pattern=r"^[^\x00]*$")]
"""Without NUL, which not every engine can compare with."""


class RowFilter(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which rows; ``startDate`` and ``endDate`` are local days, both included, or times."""

    provider: Word | None = None
    model: Word | None = None
    connection_id: Word | None = None
    status: Status | None = None
    start_date: Word | None = None
    end_date: Word | None = None


class HistoryQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class DetailsQuery(RowFilter, frozen=True, kw_only=True, rename="camel"):
    page: Annotated[int, Meta(ge=1, le=10_000_000)] = 1
    page_size: Annotated[int, Meta(ge=1, le=100)] = 20


class ExportQuery(Struct, frozen=True, kw_only=True):
    hours: Annotated[int, Meta(ge=1, le=168)] = 24
    limit: Annotated[int, Meta(ge=1, le=50_000)] = 10_000


class MeQuery(Struct, frozen=True):
    format: str = "json"


class StreamQuery(Struct, frozen=True, kw_only=True):
    period: Literal["today", "24h", "7d", "30d", "60d", "all"] = "7d"


class QuotaQuery(Struct, frozen=True, kw_only=True):
    force: bool = False
    """Ask the vendor again instead of giving what it said a moment ago."""


class GrantBody(Struct, frozen=True, kw_only=True, rename="camel"):
    grant_id: str | None = None


MOST_DAYS = 3650


class DaysBody(Struct, frozen=True, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None
    """How much is kept; the setting's when nothing is said."""
